package main

import "go.temporal.io/sdk/activity"

// activityOptions names the activity of the hand-written line.
func activityOptions() activity.RegisterOptions { return activity.RegisterOptions{Name: "addByHand"} }

// quiet drops the SDK's log, which would stand between the figures.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
