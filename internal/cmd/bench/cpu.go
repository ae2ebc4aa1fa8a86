package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// cpuTime is the processor time that this process and the server have used.
// Unlike the clock it does not depend on what else the machine does.
func cpuTime(server int) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano()+usage.Stime.Nano()) + otherTime(server)
}

// tick is the unit of the kernel's figures.
const tick = 10 * time.Millisecond

// otherTime is the processor time of another process; zero where the system
// does not say.
func otherTime(pid int) time.Duration {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, after, _ := bytes.Cut(raw, []byte(") "))
	fields := bytes.Fields(after)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(string(fields[11]))
	system, _ := strconv.Atoi(string(fields[12]))
	return time.Duration(user+system) * tick
}
