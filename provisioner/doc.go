// Package provisioner joins observation, forecast and decision: the loops that
// keep chains running, and the advice that a person or a program asks for.
//
// So far it gives advice from a recorded history, by a planner ([Advise]) or a
// trained model ([AdviseBy]); it submits nothing. Start reading at advise.go.
package provisioner
