package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/graph"
)

// steered is what a live change prints.
type steered struct {
	Domain string           `json:"domain"`
	Action string           `json:"action"`
	Key    string           `json:"key,omitempty"`
	Status admission.Status `json:"status"` // after the change
}

// nothing takes a live change back.
const nothing = "none"

func (p *program) setLimitCommand() *cobra.Command {
	cmd := p.steerCommand(&cobra.Command{
		Use:   "set-limit KEY N|none",
		Short: "Change the limit of a key, or take the change back",
		Long: "Change the limit of a key live; none takes the change back, and 0 is a pause. KEY is global, agent:NAME or the name of\n" +
			"a key; a name that ends in * stands for all that begin so. What runs is left alone: a lower limit only keeps others out.",
		Args: exactly(2, "a key, and a number or none"),
	}, func(args []string) (tidemill.AdmissionSteer, string, error) {
		change := tidemill.AdmissionSteer{Action: tidemill.SteerLimit, Key: args[0], Limit: admission.None}
		if args[1] == nothing {
			return change, fmt.Sprintf("the limit of %s is that of the configuration again", args[0]), nil
		}
		limit, err := strconv.Atoi(args[1])
		if err != nil || limit < 0 {
			return change, "", usage(fmt.Sprintf("the limit is %q; %s", args[1], limitMend), "set-limit")
		}
		change.Limit = limit
		return change, fmt.Sprintf("the limit of %s is %d", args[0], limit), nil
	})
	// A negative number looks like a flag.
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return usage(fmt.Sprintf("%v; for the limit %s", err, limitMend), "set-limit")
	})
	return cmd
}

const limitMend = "write a number of at least 0, or none"

func (p *program) setRateCommand() *cobra.Command {
	return p.steerCommand(&cobra.Command{
		Use:   "set-rate KEY LIMIT/PER[,burst=N]|none",
		Short: "Change the rate of a key, or take the change back",
		Long: "Change the rate of a key live, as in 100/1s or 100/1s,burst=20; none takes the change back, and 0/1s is a pause.\n" +
			"Without burst it is the limit.",
		Args: exactly(2, "a key, and a rate or none"),
	}, func(args []string) (tidemill.AdmissionSteer, string, error) {
		change := tidemill.AdmissionSteer{Action: tidemill.SteerRate, Key: args[0]}
		if args[1] == nothing {
			return change, fmt.Sprintf("the rate of %s is that of the configuration again", args[0]), nil
		}
		rate, err := rateOf(args[1])
		change.Rate = rate
		return change, fmt.Sprintf("the rate of %s is %s", args[0], rateText(rate.Limit, rate.Per, rate.Burst)), err
	})
}

func (p *program) pauseAdmissionCommand() *cobra.Command {
	return p.steerCommand(&cobra.Command{
		Use:   "pause [KEY]",
		Short: "Give no more permits for a key, or none at all",
		Long:  "Give no more permits for a key, or none at all. What runs goes on, and requests take their places in the queue.",
		Args:  atMostOne("a key, or nothing"),
	}, func(args []string) (tidemill.AdmissionSteer, string, error) {
		change := tidemill.AdmissionSteer{Action: tidemill.SteerPause, Key: keyOf(args)}
		return change, orEverything(change.Key) + " is paused", keyGiven(args)
	})
}

func (p *program) resumeAdmissionCommand() *cobra.Command {
	return p.steerCommand(&cobra.Command{
		Use:   "resume [KEY]",
		Short: "End the pause of a key, or of everything, and a drain",
		Long:  "End the pause of a key; without one, that of everything, and a drain. Keys that are paused by themselves stay so.",
		Args:  atMostOne("a key, or nothing"),
	}, func(args []string) (tidemill.AdmissionSteer, string, error) {
		change := tidemill.AdmissionSteer{Action: tidemill.SteerResume, Key: keyOf(args)}
		return change, orEverything(change.Key) + " goes on", keyGiven(args)
	})
}

func (p *program) drainCommand() *cobra.Command {
	return p.steerCommand(&cobra.Command{
		Use:   "drain",
		Short: "Let what runs end, and give no permits until resume",
		Long: "Let what runs end, and answer all requests, those that wait and those that come, with draining, until resume. Nodes of\n" +
			"runs then wait and ask again, unless they chose overflow: reject.",
		Args: exactly(0, "no argument"),
	}, func([]string) (tidemill.AdmissionSteer, string, error) {
		return tidemill.AdmissionSteer{Action: tidemill.SteerDrain}, "everything drains", nil
	})
}

// steerCommand completes a verb that makes a live change. The change is checked
// before the server hears of it.
func (p *program) steerCommand(cmd *cobra.Command, parse func(args []string) (tidemill.AdmissionSteer, string, error)) *cobra.Command {
	var domain string
	domainFlag(cmd, &domain)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		change, done, err := parse(args)
		if err != nil {
			return err
		}
		if err := tidemill.CheckSteer(change); err != nil {
			return err
		}
		return p.withRuns(cmd.Context(), func(runs *tidemill.Client) error {
			status, err := runs.SteerAdmission(cmd.Context(), domain, change)
			if err != nil {
				return p.steerFailed(err, change)
			}
			result := steered{Domain: domain, Action: change.Action, Key: change.Key, Status: status}
			return p.print(result, func(w io.Writer) {
				_, _ = fmt.Fprintf(w, "%s in domain %s; %s, %d waiting\n", plain(done), plain(domain), count(status.Permits, "permit"), status.Queued)
			})
		})
	}
	return cmd
}

// steerFailed says where a limit belongs while there is no book to change.
func (p *program) steerFailed(err error, change tidemill.AdmissionSteer) error {
	if tidemill.ErrorType(err) == tidemill.ErrTypeUnknownDomain {
		switch change.Action {
		case tidemill.SteerLimit, tidemill.SteerRate:
			p.say("nothing was changed; put it into the workers' configuration (admission.limits), with which a book begins")
		default:
			p.say("nothing was changed: there is nothing to act on")
		}
	}
	return err
}

// rateOf reads a rate: 100/1s or 100/1s,burst=20.
func rateOf(text string) (admission.Rate, error) {
	wrong := usage(fmt.Sprintf("the rate is %q; write it like 100/1s or 100/1s,burst=20, or none", text), "set-rate")
	main, burst, hasBurst := strings.Cut(text, ",")
	limit, per, ok := strings.Cut(main, "/")
	if !ok {
		return admission.Rate{}, wrong
	}
	n, err := strconv.Atoi(limit)
	if err != nil || n < 0 {
		return admission.Rate{}, wrong
	}
	period, err := graph.ParseDuration(per)
	if err != nil || period <= 0 {
		return admission.Rate{}, wrong
	}
	rate := admission.Rate{Limit: n, Per: period.Std()}
	if !hasBurst {
		return rate, nil
	}
	number, named := strings.CutPrefix(burst, "burst=")
	if rate.Burst, err = strconv.Atoi(number); !named || err != nil || rate.Burst < 1 {
		return admission.Rate{}, wrong
	}
	return rate, nil
}

// atMostOne is the check of a verb that takes one argument or none.
func atMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= 1 {
			return nil
		}
		return usage(fmt.Sprintf("%s takes %s; %d arguments were given", cmd.Name(), what, len(args)), cmd.Name())
	}
}

func keyOf(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// keyGiven refuses a key that is there and empty: an unset variable of a script must
// not stand for everything.
func keyGiven(args []string) error {
	if len(args) == 1 && args[0] == "" {
		return usage("the key is empty; name one, or leave it out for everything", "KEY")
	}
	return nil
}

func orEverything(key string) string {
	if key == "" {
		return "everything"
	}
	return key
}
