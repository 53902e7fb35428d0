// Package learned puts the parts that training leaves behind together: the
// forecast of waits by trees, how it is recalibrated, and the networks that
// decide by it.
//
// A [Model] is read from named bytes ([Read]) and written as such ([Encode]);
// where these are kept, and that they are whole, is the business of package
// models. Reading refuses a model that was made for other features than this
// program computes. The package does no I/O and never trains. Start reading at
// model.go.
package learned
