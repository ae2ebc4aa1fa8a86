package workflows_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The main stories, each workflow task of which replays the run from its
// beginning: what the code keeps in memory between tasks must not steer a run (C15).
// The cache is the process's, so another process has to do without.
func TestWithoutCache(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	names := []string{
		"TestLinearGraph", "TestConformance", "TestPauseAnsweredBySignal", "TestPauseAnsweredByUpdate", "TestRefusedSignals",
		"TestCancelInEachPhase", "TestConfigurationSwitched", "TestClockStandsStill", "TestPauseExpires", "TestTwoAnswersInOneTask",
		"TestChildRetried", "TestChildPauseAnsweredAbove", "TestPauseThreeLevelsDown", "TestNamedChildren", "TestCancelReachesChildren",
		"TestLocalBesideRemote", "TestLocalFailures",
	}
	stories := exec.CommandContext(t.Context(), self, "-test.v", "-test.count=1", "-test.run", "^("+strings.Join(names, "|")+")$")
	stories.Env = append(os.Environ(), noCacheVariable+"=1")
	out, err := stories.CombinedOutput()
	require.NoError(t, err, string(out))
	for _, name := range names {
		require.Contains(t, string(out), "--- PASS: "+name)
	}
}
