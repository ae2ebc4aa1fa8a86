package permits

import (
	"errors"
	"fmt"
	"time"

	"github.com/tidemill/tidemill/admission"
)

// ErrInvalidSteer is behind every error about a [Steer] that means nothing.
// Nothing was changed.
var ErrInvalidSteer = errors.New("permits: invalid change")

// Check tells what is wrong with a change, by making it to a book of its own.
func (s *Steer) Check() error {
	book, err := admission.NewBook(admission.Limits{})
	if err != nil {
		return err
	}
	switch s.Action {
	case SteerPause, SteerResume:
		if s.Key != "" { // a name, as that of any key
			err = book.SetLimit(time.Time{}, s.Key, 0)
		}
	case SteerDrain, SteerLimits:
		if s.Key != "" {
			return fmt.Errorf("%w: %s takes no key", ErrInvalidSteer, s.Action)
		}
		err = s.Apply(book, time.Time{})
	default:
		err = s.Apply(book, time.Time{})
	}
	if err != nil && !errors.Is(err, ErrInvalidSteer) {
		err = fmt.Errorf("%w: %w", ErrInvalidSteer, err)
	}
	return err
}

// Apply makes the change to a book. What follows is decided by its next turn.
func (s *Steer) Apply(book *admission.Book, now time.Time) error {
	switch s.Action {
	case SteerLimit:
		return book.SetLimit(now, s.Key, s.Limit)
	case SteerRate:
		return book.SetRate(now, s.Key, s.Rate)
	case SteerLimits:
		_, err := book.SetLimits(now, s.Limits)
		return err
	case SteerPause:
		book.Pause(now, s.Key)
	case SteerResume:
		book.Resume(now, s.Key)
	case SteerDrain:
		book.Drain(now)
	default:
		return fmt.Errorf("%w: action %q; known are %s, %s, %s, %s, %s and %s", ErrInvalidSteer, s.Action,
			SteerLimit, SteerRate, SteerLimits, SteerPause, SteerResume, SteerDrain)
	}
	return nil
}
