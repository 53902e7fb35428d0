// Package safetensors reads and writes named tensors in the safetensors format,
// in which the weights of the networks are kept: eight bytes with the length of
// a header, the header in JSON, and the numbers, all little-endian
// (https://huggingface.co/docs/safetensors).
//
// What it writes is float32 and depends on the tensors alone, byte for byte.
// What it reads may be float32, float64, float16 or bfloat16; every length,
// offset and shape is checked before it is used, so a damaged or hostile file is
// an error and never a panic. It knows nothing of networks, and touches no file.
// Start reading at Decode, then Encode.
package safetensors
