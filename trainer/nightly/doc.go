// Package nightly trains models again on a schedule, from the history in the
// store: collect, export, train, promote, report. Training itself and the contest
// with the model that decides are segue-trainer's, which runs as a process of its
// own, so that this package links no native library:
//
//	due -> running: collect -> export -> train -> promote -> promoted | kept
//	          \________________________________________\---> failed | interrupted
//	      -> skipped (another one runs, or ran, or the history is too short)
//
// Of a cluster one training runs at a time, whoever starts it: it holds a lease of
// the store. Each has a folder with its log and its report; its row in the store
// tells what came of it. A run that was missed while nobody was there is caught up
// once, and one that was interrupted is repeated once, from its beginning: until then
// the history has gone on.
//
// The package decides nothing about models: when a challenger becomes the champion
// is for package evaluation to say. Start reading at run.go, then schedule.go and interrupted.go.
package nightly
