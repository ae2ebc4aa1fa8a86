package main

import (
	"context"
)

func (b *bench) ceiling(context.Context) error { return nil }
