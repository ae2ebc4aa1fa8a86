package permits

import (
	"fmt"

	"github.com/tidemill/tidemill/admission"
)

// validate looks at the id alone. Whatever else is wrong is the book's to say.
func (h *Hold) validate() error {
	if h.ID == "" || len(h.ID) > admission.MaxIDBytes {
		return fmt.Errorf("%w: the id has %d bytes; give 1 to %d", admission.ErrInvalidRequest, len(h.ID), admission.MaxIDBytes)
	}
	return nil
}
