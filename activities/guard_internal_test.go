package activities

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

type fixed string

func (f fixed) Lookup(string) (string, error) { return string(f), nil }

// Whatever a secret looks like, neither it nor a common spelling of it may leave
// in a message, and JSON stays JSON.
func TestGuardHidesEverySpelling(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[a-z"\\/ <&%+]{8,20}`).Draw(t, "secret")
		g := &guard{secrets: fixed(secret)}
		_, err := g.lookup("X")
		require.NoError(t, err)
		around := rapid.StringMatching(`[A-Z ]{0,5}`).Draw(t, "around")
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), (&url.URL{Path: secret}).EscapedPath(), htmlSafe(t, secret)} {
			require.NotContains(t, g.scrub(around+form+around), secret)
			require.NotContains(t, g.scrub(around+form+around), form)
		}
		raw, err := value.Marshal(map[string]string{around: around + secret})
		require.NoError(t, err)
		clean := g.scrubJSON(raw)
		require.True(t, json.Valid(clean), "%s", clean)
		var back map[string]string
		if json.Unmarshal(clean, &back) == nil {
			require.NotContains(t, back[around], secret)
		}
	})
}

// htmlSafe is text as encoding/json escapes it.
func htmlSafe(t require.TestingT, text string) string {
	raw, err := json.Marshal(text)
	require.NoError(t, err)
	return string(raw[1 : len(raw)-1])
}

// A secret with a slash is spelt in a URL's path as no other escape spells it.
func TestGuardHidesAPath(t *testing.T) {
	t.Parallel()
	g := &guard{secrets: fixed("pass|word/12345")}
	_, err := g.lookup("X")
	require.NoError(t, err)
	target, err := url.Parse("http://h/a/pass|word/12345/b")
	require.NoError(t, err)
	require.Equal(t, "http://h/a/***/b", g.scrub(place(target)))
}

// A message is cut before it is scrubbed, and the cut may go through the secret.
func TestGuardHidesWhatACutLeft(t *testing.T) {
	t.Parallel()
	g := &guard{secrets: fixed("hush-hush")}
	_, err := g.lookup("X")
	require.NoError(t, err)
	long := strings.Repeat("x", maxMessage-len("hush-hus"))
	require.Equal(t, long+hidden, g.scrub(cut(long+"hush-hush", maxMessage)))
	require.Equal(t, long+"xxxxxhus", g.scrub(cut(long+"xxxxxhush-hush", maxMessage)), "too little to tell anything")
	require.Equal(t, "all is hush", g.scrub("all is hush"), "nothing was cut")
}

// An endpoint may answer with what it was sent anywhere, in names as well.
func TestGuardReachesNames(t *testing.T) {
	t.Parallel()
	g := &guard{secrets: fixed("hush-hush")}
	_, err := g.lookup("X")
	require.NoError(t, err)
	r := &graph.Result{
		Target: "to-hush-hush", Delta: value.NewObject(value.Member{Key: "a", Value: json.RawMessage("0")}, value.Member{Key: "hush-hush", Value: json.RawMessage("1")}),
		Pause: &graph.PauseRequest{Reason: "hush-hush", ResumeSchema: json.RawMessage(`{"const":"hush-hush"}`)},
	}
	g.scrubResult(r)
	require.Equal(t, "to-***", r.Target)
	require.Equal(t, `{"***":1,"a":0}`, string(r.Delta.Raw()), "sorted")
	require.Equal(t, &graph.PauseRequest{Reason: hidden, ResumeSchema: json.RawMessage(`{"const":"***"}`)}, r.Pause)
	e := &graph.Ending{Failure: &graph.Failure{Type: "no_hush-hush", Message: "m"}}
	g.scrubEnding(e)
	require.Equal(t, "no_***", e.Failure.Type)
}

func TestGuardReachesCauses(t *testing.T) {
	t.Parallel()
	g := &guard{secrets: fixed("hush-hush")}
	_, err := g.lookup("X")
	require.NoError(t, err)
	e := &graph.Ending{Failure: &graph.Failure{Message: "a", Cause: &graph.Failure{Message: "hush-hush", Details: json.RawMessage(`["hush-hush"]`)}}}
	g.scrubEnding(e)
	require.Equal(t, hidden, e.Failure.Cause.Message)
	require.Equal(t, `["***"]`, string(e.Failure.Cause.Details))
	g.scrubEnding(&graph.Ending{})
}

// A secret that is itself JSON syntax must not break the text it stands in.
func TestGuardSurvivesSyntax(t *testing.T) {
	t.Parallel()
	g := &guard{secrets: fixed(`,"hidden":`)}
	_, err := g.lookup("X")
	require.NoError(t, err)
	require.Equal(t, `"***"`, string(g.scrubJSON(json.RawMessage(`{"a":1,"hidden":2}`))))
	require.Empty(t, g.scrubJSON(nil))
}

func TestCacheKeepsTheLatest(t *testing.T) {
	t.Parallel()
	c := newCache[int](2)
	built := 0
	get := func(key string) {
		_, err := c.get(key, func() (int, error) { built++; return built, nil })
		require.NoError(t, err)
	}
	for key := range strings.SplitSeq("a b a b c a", " ") {
		get(key)
	}
	require.Equal(t, 4, built, "a was built again after c took its place")
	require.Len(t, c.kept, 2)
	_, err := c.get("d", func() (int, error) { return 0, ErrName })
	require.ErrorIs(t, err, ErrName)
	require.Len(t, c.kept, 2, "an error is not kept")
}

func TestNear(t *testing.T) {
	t.Parallel()
	known := []string{"order-review", "order-refund", "payroll", "review"}
	require.Equal(t, []string{"order-review", "order-refund"}, near("order-reveiw", known)[:2])
	require.Equal(t, "order-review", near("orderreview", known)[0])
	require.Equal(t, []string{"payroll"}, near("Payrol", known))
	require.Empty(t, near("x", known))
	require.Empty(t, near("", known))
	require.Empty(t, near("abc", nil))
}
