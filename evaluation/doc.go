// Package evaluation is the measure of a decision policy: given what each
// policy achieved on each start of a backtest, it says how much of the way
// from a constant lead to an oracle the policy goes, what it costs when its
// parameter is tuned honestly, and how sure both numbers are.
//
// A start is one moment at which a job that must be followed by another one
// begins. The outcome of a policy on a start is one signed number of hours, x:
// the successor began x hours after the predecessor's end (x > 0, an
// interruption) or -x hours before it (x < 0, an overlap). A policy with one
// free parameter (a lead, a factor, a margin) yields one outcome per value of
// the parameter and start: a matrix, [Outcomes].
//
// The steps of the measure:
//
//  1. [Split] and [RollingMonths] cut time into train, tune and test, with an
//     embargo that no pair reaches across.
//  2. Every value of a policy's parameter is a point (mean overlap, mean
//     interruption). [Frontier] is their lower convex hull.
//  3. [Oracle] picks the best lead of each start, knowing the outcome.
//  4. [GapClosed] places a policy's frontier between constant and oracle.
//  5. [Backtest] chooses the parameter on the tuning period, scores it on the
//     test period and draws the intervals by a block bootstrap. [Roll] does so
//     month after month.
//
// [Judge] says whether a newly trained model takes the place of the one that
// decides. Forecasts are judged by [MeanPinball], [Coverage], [CRPS] and their kin.
//
// The package never simulates, never trains and performs no I/O: the same
// outcomes, seed and configuration give the same result. Start reading at
// backtest.go, then frontier.go.
package evaluation
