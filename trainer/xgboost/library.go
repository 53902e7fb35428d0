//go:build native

package xgboost

/*
#cgo LDFLAGS: -lxgboost
#include <xgboost/c_api.h>
*/
import "C"

import (
	"fmt"
	"runtime"
	"strings"
)

// call runs f, a call of libxgboost, and turns a status other than 0 into the
// library's message. That is kept for each thread of the operating system, so
// the goroutine stays on its thread meanwhile.
func call(doing string, f func() C.int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if f() == 0 {
		return nil
	}
	message, _, _ := strings.Cut(C.GoString(C.XGBGetLastError()), "\nStack trace")
	return fmt.Errorf("%s: libxgboost: %s", doing, strings.TrimSpace(message))
}
