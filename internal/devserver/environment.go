package devserver

import (
	"os"
	"slices"
	"strings"
)

// Environment is the caller's environment with every TEMPORAL_ setting replaced
// by those of the server, in the form of os.Environ. Whatever reads Temporal's
// own settings (the command line, a worker, the starter) then talks to it.
func (s *Server) Environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, "TEMPORAL_")
	})
	return append(env,
		"TEMPORAL_ADDRESS="+s.address,
		"TEMPORAL_NAMESPACE="+DefaultNamespace,
		"TEMPORAL_CONFIG_FILE="+os.DevNull, // the user's temporal.toml must not decide
	)
}
