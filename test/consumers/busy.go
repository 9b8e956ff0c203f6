// SPDX-License-Identifier: MIT
// busy: a program that profiles itself, with inlined functions, as Go's do.
package main

import (
	"os"
	"runtime/pprof"
	"strings"
	"time"
)

func small(n int) int { return n*7 + 1 }

//go:noinline
func spin(until time.Time) (sum int) {
	for time.Now().Before(until) {
		for i := 0; i < 1000; i++ {
			sum += small(i) + len(strings.Repeat("x", i%100))
		}
	}
	return sum
}

func main() {
	pprof.StartCPUProfile(os.Stdout)
	end := time.Now().Add(700 * time.Millisecond)
	done := make(chan int)
	go func() { done <- spin(end) }()
	spin(end)
	<-done
	pprof.StopCPUProfile()
}
