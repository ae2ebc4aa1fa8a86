package devserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// BinaryVariable names the environment variable that overrides where the
// temporal command line is looked up.
const BinaryVariable = "TIDEMILL_TEMPORAL"

// ErrNoBinary is returned when no temporal command line can be found. Its text
// says how to get one.
var ErrNoBinary = errors.New("devserver: no temporal command line on PATH or in bin/: run `make tools` in the module root, or set " +
	BinaryVariable + " to the binary's path")

// Binary returns the absolute path of the temporal command line: the one that
// [BinaryVariable] names, else the one on PATH, else bin/temporal below the
// module root, which is the nearest parent of the working directory with a
// go.mod. It returns [ErrNoBinary] when there is none.
func Binary() (string, error) {
	if path := os.Getenv(BinaryVariable); path != "" {
		found, err := exec.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("devserver: %s: %w", BinaryVariable, err)
		}
		return filepath.Abs(found)
	}
	if found, err := exec.LookPath("temporal"); err == nil {
		return filepath.Abs(found)
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("devserver: %w", err)
	}
	if found, err := exec.LookPath(filepath.Join(moduleRoot(dir), "bin", "temporal")); err == nil {
		return found, nil
	}
	return "", ErrNoBinary
}

// moduleRoot returns the nearest parent of dir, or dir itself, that holds a
// go.mod; dir when none does.
func moduleRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
