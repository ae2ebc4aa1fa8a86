package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// manualKeys are the words of code in the first column of a table of the manual.
func manualKeys(t *testing.T, mark string) (keys []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/admission.md")
	require.NoError(t, err)
	_, below, found := strings.Cut(string(text), "<!-- keys: "+mark+" -->\n")
	require.True(t, found, mark)
	table, _, _ := strings.Cut(below, "\n\n")
	for _, row := range strings.Split(table, "\n")[2:] {
		for _, word := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(strings.Split(row, "|")[1], -1) {
			keys = append(keys, word[1])
		}
	}
	return keys
}

// A key that the manual forgets is never used; one that it invents stops the worker
// of whoever believes it. The reader says itself which keys it takes.
func TestManualOfAdmission(t *testing.T) {
	t.Parallel()
	for mark, text := range map[string]string{
		"admission": "admission: {nonsense: 1}",
		"limits":    "admission: {limits: {nonsense: 1}}",
		"rule":      "admission: {rules: [{nonsense: 1}]}",
	} {
		t.Run(mark, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "w.yaml")
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			_, err := readConfig(file)
			require.Error(t, err)
			taken := regexp.MustCompile(`no key "nonsense" here \(write one of ([^)]+)\)`).FindStringSubmatch(err.Error())
			require.NotNil(t, taken, err)
			require.ElementsMatch(t, strings.Split(taken[1], ", "), manualKeys(t, mark))
		})
	}
}
