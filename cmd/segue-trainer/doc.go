// Command segue-trainer makes models from a cluster's job history: trees that
// forecast waits, and networks that decide by them.
//
// It links libxgboost and libtorch, and is built with the tag native (make
// trainer). Without the tag it only says so. Start reading at root.go.
package main
