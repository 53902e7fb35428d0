//go:build native

package libtorch

// #cgo CFLAGS: -D_GNU_SOURCE
// #cgo LDFLAGS: -ldl
// #include <dlfcn.h>
// #include <stdlib.h>
//
// // limit_threads calls a function that sets a number of threads, in whichever
// // library that is loaded has it.
// static void limit_threads(const char *setter, int threads) {
//   void (*set)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, setter);
//   if (set) set(threads);
// }
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	torch "github.com/sugarme/gotch/libtch"
)

// tensor is a handle on a tensor of libtorch. A nil one is what failed.
//
// gotch's own Tensor is not used: each of its results allocates 100 kB to be
// seen by the garbage collector, and its errors end the process.
type tensor = torch.Ctensor

const (
	float32Kind = 6 // libtorch's number of the type
	float32Size = 4
)

// pool runs operations and owns their results until it is emptied. After the
// first failure it does nothing and keeps the reason, so that a formula reads as
// one.
type pool struct {
	device int32 // -1 the CPU, else the number of a GPU
	live   []tensor
	err    error
}

// empty frees every tensor of the pool.
func (p *pool) empty() {
	for _, t := range p.live {
		torch.AtFree(t)
	}
	p.live = p.live[:0]
}

// run keeps the result of an operation.
func (p *pool) run(name string, operation func(out *tensor)) tensor {
	if p.err != nil {
		return nil
	}
	var out tensor
	operation(&out)
	if out == nil {
		p.fail(name)
		return nil
	}
	p.live = append(p.live, out)
	return out
}

// fail keeps what libtorch says about the last failure of this thread.
func (p *pool) fail(name string) {
	message := (*C.char)(unsafe.Pointer(torch.GetAndResetLastErr()))
	if message == nil {
		p.err = fmt.Errorf("libtorch: %s gave nothing", name)
		return
	}
	p.err = fmt.Errorf("libtorch: %s: %w", name, errors.New(C.GoString(message)))
	C.free(unsafe.Pointer(message))
}

// check keeps the failure of an operation without a result, if it failed.
func (p *pool) check(name string) {
	message := torch.GetAndResetLastErr()
	if message == nil {
		return
	}
	p.err = fmt.Errorf("libtorch: %s: %w", name, errors.New(C.GoString((*C.char)(unsafe.Pointer(message)))))
	C.free(unsafe.Pointer(message))
}

// from copies numbers into a tensor on the device.
func (p *pool) from(data []float32, shape ...int64) tensor {
	t := p.run("tensor", func(out *tensor) {
		*out = torch.AtTensorOfData(unsafe.Pointer(unsafe.SliceData(data)), shape, uint(len(shape)), float32Size, float32Kind)
	})
	if p.device < 0 {
		return t
	}
	return p.run("to", func(out *tensor) { torch.AtgTo(out, t, p.device) })
}

// into copies the numbers of a tensor out of it.
func (p *pool) into(dst []float32, t tensor) {
	if p.err != nil || len(dst) == 0 {
		return
	}
	torch.AtCopyData(t, unsafe.Pointer(&dst[0]), uint(len(dst)), float32Size)
	p.check("copy")
}

// trainable asks for the gradient of a tensor.
func (p *pool) trainable(t tensor) {
	p.run("requires_grad_", func(out *tensor) { torch.AtgRequiresGrad_(out, t, 1) })
}

// gradient computes the gradient of a loss and copies that with respect to t.
func (p *pool) gradient(dst []float32, loss, t tensor) {
	if p.err != nil {
		return
	}
	torch.AtBackward(loss, 0, 0)
	p.check("backward")
	p.into(dst, p.run("grad", func(out *tensor) { torch.AtgGrad(out, t) }))
}

// quietly runs f without the bookkeeping that gradients need.
func (p *pool) quietly(f func()) {
	before := torch.AtGradSetEnabled(0)
	f()
	torch.AtGradSetEnabled(before)
}

// oneThread makes libtorch and its matrix library use one thread, which is as
// fast for networks of this size and gives the same sums everywhere.
func oneThread() {
	for _, setter := range []string{"_ZN2at15set_num_threadsEi", "openblas_set_num_threads"} {
		name := C.CString(setter)
		C.limit_threads(name, 1)
		C.free(unsafe.Pointer(name))
	}
}

// deviceOf returns the number of the device that a configuration asks for.
func deviceOf(name string) (int32, error) {
	available := torch.AtcCudaIsAvailable()
	switch {
	case name == "cpu" || name == "auto" && !available:
		return -1, nil
	case available:
		return 0, nil
	}
	return 0, errors.New("the device is cuda, and libtorch finds none")
}
