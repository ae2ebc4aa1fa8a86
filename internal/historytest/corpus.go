package historytest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A corpus is a folder of recordings. Those of the code at hand lie in it; what
// released code wrote lies below it, in a folder core-N for each version N of the
// interpreter's rules, and is never written again: runs like it may still be open.
// The file [sumsFile] in such a folder holds what its files were when they were
// released.

// Kept is one recording of a corpus.
type Kept struct {
	Name string // the file's, without its ending
	Core int    // of the released folder it lies in; 0: it is not released
	Path string
}

// String names the recording and the version it is of, for the name of a test.
func (k Kept) String() string {
	if k.Core == 0 {
		return "unreleased/" + k.Name
	}
	return releasedFolder(k.Core) + "/" + k.Name
}

// sumsFile is in the form that sha256sum reads.
const sumsFile = "SHA256SUMS"

const corePrefix = "core-"

func releasedFolder(core int) string { return corePrefix + strconv.Itoa(core) }

// Corpus lists the recordings below a folder, those of the oldest version first and
// those that are not released last. It is an error when a released recording is not
// what it was, or when there is none at all.
func Corpus(folder string) ([]Kept, error) {
	cores, err := releasedCores(folder)
	if err != nil {
		return nil, err
	}
	var all []Kept
	var errs []error
	for _, core := range cores {
		released, err := readReleased(folder, core)
		all, errs = append(all, released...), append(errs, err)
	}
	unreleased, err := recordings(folder, 0)
	if errs = append(errs, err); errors.Join(errs...) != nil {
		return nil, errors.Join(errs...)
	}
	if all = append(all, unreleased...); len(all) == 0 {
		return nil, fmt.Errorf("historytest: %s holds no recordings", folder)
	}
	return all, nil
}

// releasedCores are the versions that have a folder, in order.
func releasedCores(folder string) ([]int, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("historytest: corpus: %w", err)
	}
	var cores []int
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		number, found := strings.CutPrefix(entry.Name(), corePrefix)
		core, err := strconv.Atoi(number)
		if !found || err != nil || core < 1 {
			return nil, fmt.Errorf("historytest: corpus: folder %s in %s is not called core-N, after the version of what is in it", entry.Name(), folder)
		}
		cores = append(cores, core)
	}
	slices.Sort(cores)
	return cores, nil
}

// recordings lists the recordings in one folder, in order.
func recordings(folder string, core int) ([]Kept, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("historytest: corpus: %w", err)
	}
	slices.Sort(paths)
	kept := make([]Kept, len(paths))
	for i, path := range paths {
		kept[i] = Kept{Name: strings.TrimSuffix(filepath.Base(path), ".json"), Core: core, Path: path}
	}
	return kept, nil
}

// readReleased lists a released folder, whose files must be those that were released.
func readReleased(folder string, core int) ([]Kept, error) {
	inside := filepath.Join(folder, releasedFolder(core))
	kept, err := recordings(inside, core)
	if err != nil {
		return nil, err
	}
	sums, err := readSums(inside)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, k := range kept {
		sum, err := sumOf(k.Path)
		switch want, listed := sums[k.Name]; {
		case err != nil:
			errs = append(errs, err)
		case !listed:
			errs = append(errs, fmt.Errorf("historytest: corpus: %s is not in %s: what is not released lies one folder above", k.Path, sumsFile))
		case sum != want:
			errs = append(errs, fmt.Errorf("historytest: corpus: %s was changed after its release: restore it, and mend the code that cannot replay it", k.Path))
		}
		delete(sums, k.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		errs = append(errs, fmt.Errorf("historytest: corpus: %s was removed after its release: restore it", filepath.Join(inside, name+".json")))
	}
	return kept, errors.Join(errs...)
}

// readSums reads the sums of a released folder, by name.
func readSums(inside string) (map[string]string, error) {
	content, err := os.ReadFile(filepath.Join(inside, sumsFile))
	if err != nil {
		return nil, fmt.Errorf("historytest: corpus: %w", err)
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(line)
		if len(fields) != 2 {
			return nil, fmt.Errorf("historytest: corpus: %s of %s has the line %q", sumsFile, inside, line)
		}
		sums[strings.TrimSuffix(fields[1], ".json")] = fields[0]
	}
	return sums, nil
}

func sumOf(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("historytest: corpus: %w", err)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), nil
}

// Release moves what is not released into the folder of a version, where it stays as
// it is. A name that was released before is refused: a new shape has a new name.
func Release(folder string, core int) error {
	inside := filepath.Join(folder, releasedFolder(core))
	unreleased, err := recordings(folder, 0)
	if err != nil {
		return err
	}
	for _, k := range unreleased {
		if _, err := os.Stat(filepath.Join(inside, filepath.Base(k.Path))); err == nil {
			return fmt.Errorf("historytest: release: %s was released before: give the new one another name, such as %s_CHANGE", k.Name, k.Name)
		}
	}
	if err := os.MkdirAll(inside, 0o755); err != nil {
		return fmt.Errorf("historytest: release: %w", err)
	}
	for _, k := range unreleased {
		if err := os.Rename(k.Path, filepath.Join(inside, filepath.Base(k.Path))); err != nil {
			return fmt.Errorf("historytest: release: %w", err)
		}
	}
	return writeSums(inside, core)
}

func writeSums(inside string, core int) error {
	kept, err := recordings(inside, core)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, k := range kept {
		sum, err := sumOf(k.Path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", sum, filepath.Base(k.Path))
	}
	if err := os.WriteFile(filepath.Join(inside, sumsFile), sums.Bytes(), 0o600); err != nil {
		return fmt.Errorf("historytest: release: %w", err)
	}
	return nil
}
