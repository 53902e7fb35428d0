// Package toymodel makes trained models by hand, whose forecasts and decisions
// anyone can work out: for the tests of whatever reads models, and for nothing
// else. Start reading at toymodel.go.
package toymodel
