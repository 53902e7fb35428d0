#include "textflag.h"

// start is entered by the kernel: SP points to the number of arguments, which
// the arguments and the environment follow. Compiled Go code finds g through
// the register FS, so that has to point somewhere first; the runtime sets it
// anew.
TEXT ·start(SB),NOSPLIT|NOFRAME,$0
	MOVQ	SP, ·stack(SB)
	MOVQ	$158, AX // arch_prctl
	MOVQ	$0x1002, DI // ARCH_SET_FS
	LEAQ	·thread+32(SB), SI
	SYSCALL
	MOVQ	·stack(SB), AX
	SUBQ	$32, SP
	MOVQ	AX, 0(SP)
	CALL	·early(SB)
	MOVQ	·stack(SB), SP
	JMP	_rt0_amd64_linux(SB)

// func call(number, a, b, c, d uintptr) uintptr
TEXT ·call(SB),NOSPLIT,$0-48
	MOVQ	number+0(FP), AX
	MOVQ	a+8(FP), DI
	MOVQ	b+16(FP), SI
	MOVQ	c+24(FP), DX
	MOVQ	d+32(FP), R10
	SYSCALL
	MOVQ	AX, ret+40(FP)
	RET
