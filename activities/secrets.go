package activities

import (
	"errors"
	"fmt"
	"os"
	"slices"
)

// ErrSecretNotAllowed is returned by [Secrets] for a name the worker does not
// allow. Allow it in the worker's configuration.
var ErrSecretNotAllowed = errors.New("activities: secret not allowed in this worker")

// Secrets are the values that secret('NAME') stands for in the args of a node.
// They are looked up in the worker, per attempt, and never reach history.
type Secrets interface {
	// Lookup returns the value of name, or an error that wraps
	// [ErrSecretNotAllowed], or another when the value cannot be had for now.
	// Errors must not hold values.
	Lookup(name string) (string, error)
}

// EnvSecrets are the environment variables of the given names and no others.
func EnvSecrets(names ...string) Secrets { return envSecrets(slices.Clone(names)) }

type envSecrets []string

// Lookup reads the environment anew each time. A variable that is not set is an
// error: an empty token would only fail later, and elsewhere.
func (s envSecrets) Lookup(name string) (string, error) {
	if !slices.Contains(s, name) {
		return "", fmt.Errorf("%w: %q; add it to the worker's secrets.names", ErrSecretNotAllowed, name)
	}
	v, ok := os.LookupEnv(name)
	if !ok {
		return "", fmt.Errorf("activities: secret %q is allowed, but the worker's environment does not set it", name)
	}
	return v, nil
}
