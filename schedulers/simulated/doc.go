// Package simulated drives the simulator as if it were a scheduler: what runs in
// production runs on last month too, on the simulator's clock. Time passes only
// when Advance says so.
//
// It never reads a clock and starts no goroutine. Start reading at driver.go.
package simulated
