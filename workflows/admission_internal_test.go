package workflows

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// noise is text that does not compress.
func noise(seed string, length int) string {
	var b strings.Builder
	for i := 0; b.Len() < length; i++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", seed, i))
		b.WriteString(base64.RawURLEncoding.EncodeToString(sum[:]))
	}
	return b.String()[:length]
}

// crowded is a book with one permit and many long requests that wait.
func crowded(t *testing.T, waiting int) *admission.Book {
	t.Helper()
	book, err := admission.NewBook(admission.Limits{
		Keys: []admission.KeyLimit{{Key: "A", Limit: 1}}, MaxQueue: admission.MaxQueueLength, Overflow: admission.OverflowQueue,
	})
	require.NoError(t, err)
	for i := range waiting + 1 {
		name := noise(fmt.Sprint(i), 500)
		require.NoError(t, book.Submit(noon, admission.Request{
			ID: "id" + name, Owner: admission.Owner{Workflow: name, FirstRun: noise("run"+name, 500)}, Keys: []admission.Units{{Key: "A"}},
		}))
	}
	permits.Decide(book, noon)
	return book
}

// A book that is too large must become small enough, or the server would end the
// semaphore with all its permits; whoever is turned away for it is told.
func TestPackSheds(t *testing.T) {
	t.Parallel()
	const most = 200 << 10
	book := crowded(t, 600)
	carried, shed, err := pack(book, noon, most)
	require.NoError(t, err)
	require.LessOrEqual(t, len(carried), most)
	require.NotEmpty(t, shed)
	permitted, waiting := book.Load()
	require.Equal(t, 1, permitted, "permits stay")
	require.Equal(t, 600, waiting+len(shed))
	require.Greater(t, waiting, 100, "no more than need be")
	for _, d := range shed {
		require.Equal(t, admission.AnswerQueueFull, d.Answer)
	}
	again, err := unpack(carried)
	require.NoError(t, err)
	require.Equal(t, book.State(), again.State())
}

// What fits is carried as it is.
func TestPackKeepsAll(t *testing.T) {
	t.Parallel()
	book := crowded(t, 50)
	before := book.State()
	carried, shed, err := pack(book, noon, maxCarried)
	require.NoError(t, err)
	require.Empty(t, shed)
	again, err := unpack(carried)
	require.NoError(t, err)
	require.Equal(t, before, again.State())
}

// A book of permits alone has nothing to give: packing it must end all the same.
func TestPackEnds(t *testing.T) {
	t.Parallel()
	book := crowded(t, 0)
	carried, shed, err := pack(book, noon, 10)
	require.NoError(t, err)
	require.Empty(t, shed)
	require.Greater(t, len(carried), 10)
}

// What cannot be read is an error, never an empty book.
func TestUnpackRefuses(t *testing.T) {
	t.Parallel()
	for name, plain := range map[string]string{
		"no state":        `{}`,
		"another version": `{"version": 99, "clock": 1}`,
		"unknown field":   `{"version": 1, "more": 1}`,
		"not JSON":        `book`,
	} {
		carried, err := compress([]byte(plain))
		require.NoError(t, err)
		_, err = unpack(carried)
		require.ErrorIs(t, err, admission.ErrInvalidState, name)
	}
	_, err := unpack([]byte("no gzip"))
	require.Error(t, err)
}

func decision(owner, id string) admission.Decision {
	return admission.Decision{ID: id, Owner: admission.Owner{Workflow: owner, FirstRun: "run"}}
}

// One clump is bounded: a message too large for it goes in parts, and in order.
func TestPostClump(t *testing.T) {
	t.Parallel()
	var p post
	for i := range maxClump + 10 {
		p.add(decision("large", fmt.Sprint(i)))
	}
	p.add(decision("x", "1"), decision("y", "2"), decision("x", "3"))
	first := p.clump()
	require.Len(t, first, 1)
	require.Len(t, first[0].Decisions, maxClump)
	second := p.clump()
	require.Len(t, second, 3)
	require.Len(t, second[0].Decisions, 10)
	require.Equal(t, fmt.Sprint(maxClump), second[0].Decisions[0].ID)
	require.Equal(t, []string{"large", "x", "y"}, []string{second[0].Owner.Workflow, second[1].Owner.Workflow, second[2].Owner.Workflow})
	require.Len(t, second[1].Decisions, 2)
	require.Empty(t, p.clump())
	p.add(decision("z", "4"))
	require.Len(t, second, 3, "what is under way does not change")
}

// A drain ends thousands of requests at once, and their ids may be long: what is
// handed to one activity, or with one answer, must not exceed what the server takes,
// for it would end the semaphore with all its permits.
func TestPostBytes(t *testing.T) {
	t.Parallel()
	var p post
	var all []admission.Decision
	for i := range admission.MaxQueueLength {
		d := decision(strings.Repeat("<", 1_000), fmt.Sprint(i))
		all = append(all, d)
		p.add(d)
	}
	var told []admission.Decision
	for clump := p.clump(); len(clump) > 0; clump = p.clump() {
		raw, err := json.Marshal(clump)
		require.NoError(t, err)
		require.Less(t, len(raw), 1<<20)
		for _, m := range clump {
			told = append(told, m.Decisions...)
		}
	}
	require.Equal(t, all, told, "nothing is left out")
	n, size := portion(all, maxClump, maxAnswered)
	require.LessOrEqual(t, size, maxAnswered)
	require.Positive(t, n)
}

// Attempts to reach an owner become rare while it cannot be reached, and quick again
// once it was.
func TestPostRetries(t *testing.T) {
	t.Parallel()
	var p post
	lost := permits.Address(nil, decision("x", "1"))
	var waits []time.Duration
	for range 7 {
		p.lost(noon, lost)
		waits = append(waits, p.retry.Sub(noon)/time.Second)
		require.Empty(t, p.due(p.retry.Add(-1)))
		require.Equal(t, lost, p.due(p.retry))
		require.True(t, p.retry.IsZero())
	}
	require.Equal(t, []time.Duration{1, 2, 4, 8, 16, 30, 30}, waits)
	p.lost(noon, nil)
	p.lost(noon, lost)
	require.Equal(t, minPostRetry, p.retry.Sub(noon))
}

// What is carried over has a bound of its own.
func TestPostCarried(t *testing.T) {
	t.Parallel()
	var p post
	p.add(decision("x", "1"))
	p.lost(noon, permits.Address(nil, decision("y", "2")))
	require.Len(t, p.carried(), 2)
	for i := range 1_000 {
		p.add(decision(fmt.Sprint("owner", i), noise(fmt.Sprint(i), 1_000)))
	}
	require.Less(t, len(p.carried()), 260)
	require.Greater(t, len(p.carried()), 150)
}

// An owner is checked once, however often its leases run out meanwhile, and a check
// has a bound.
func TestDoubts(t *testing.T) {
	t.Parallel()
	var d doubts
	for range 3 {
		for i := range 100 {
			d.add(admission.Owner{Process: fmt.Sprint(i)})
		}
	}
	require.Len(t, d.take(), maxDoubts)
	d.add(admission.Owner{Process: "0"}, admission.Owner{Process: "99"})
	rest := d.take()
	require.Len(t, rest, 11)
	require.Equal(t, "0", rest[10].Process, "one that is being checked may be doubted again")
	require.Empty(t, d.take())
}

func TestEarliest(t *testing.T) {
	t.Parallel()
	later := noon.Add(1)
	for _, row := range [][3]time.Time{{noon, later, noon}, {later, noon, noon}, {{}, noon, noon}, {noon, {}, noon}, {}} {
		require.Equal(t, row[2], earliest(row[0], row[1]))
	}
}

// The details of any book are small, whole, and harmless on an operator's page.
func TestAdmissionDetailsOf(t *testing.T) {
	t.Parallel()
	status := admission.Status{Permits: 3, Queued: 1, GlobalLimit: 9, Active: 2, Paused: true, Draining: true, Version: 4}
	status.Agents = []admission.KeyStatus{{Name: "<b>|x", Active: 2, Limit: 5, Queued: 1, Paused: true}}
	status.Rates = []admission.RateStatus{{Name: "api", Limit: 10, Per: time.Minute, Ready: 4}}
	require.Equal(t, "3 permits · 1 waiting · limits version 4 · **paused** · **draining**\n\n"+
		"| key | used | limit | waiting |\n|---|---|---|---|\n| global | 2 | 9 | |\n"+
		"| agent:&lt;b&gt;\\|x | 2 | 5, paused | 1 |\n| api | 4 ready | 10 per 1m0s | 0 |\n"+lastLine, admissionDetails(status))
	for i := range 500 {
		status.Keys = append(status.Keys, admission.KeyStatus{Name: strings.Repeat("<", 250) + fmt.Sprint(i)})
	}
	text := admissionDetails(status)
	require.Less(t, len(text), 3<<10)
	require.Contains(t, text, " more | | | |\n")
}
