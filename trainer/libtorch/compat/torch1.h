// Lets gotch 0.9.1, which was written for libtorch 2.1, be compiled against
// libtorch 1.13, the one that Debian 12 has. The compiler is told to include
// this file before gotch's own (scripts/native.sh); with libtorch 2 it adds
// nothing.
//
// gotch wraps every operator there is. The operators that 1.13 lacks, or has
// with other arguments, are defined here: what 1.13 can do is passed on to it,
// the rest throws. gotch turns what is thrown into its error. None of them is
// needed by Segue.
#pragma once

#include <torch/torch.h>
#include <torch/version.h>

#if TORCH_VERSION_MAJOR < 2

// All that gotch includes, so that the macros below meet gotch alone.
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/jit/passes/fixup_trace_scope_blocks.h>
#include <torch/csrc/jit/passes/normalize_ops.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace segue {

// Absent is what an operator that is not there returns, as far as the compiler
// is concerned: gotch takes it for a tensor, a tuple, a number or a truth.
struct Absent : at::Tensor {
  operator bool() const { return false; }
  operator int64_t() const { return 0; }
};

[[noreturn]] inline Absent absent(const char *name) {
  throw std::runtime_error(std::string(name) + " needs libtorch 2.1");
}

}  // namespace segue

namespace std {
template <size_t I>
at::Tensor get(const segue::Absent &) { return at::Tensor(); }
}  // namespace std

// MISSING defines an operator that 1.13 does not have.
#define MISSING(name)           \
  template <class... Arguments> \
  segue::Absent name(Arguments &&...) { segue::absent(#name); }

// PARTIAL defines segue_##name, which passes on to an operator what it takes in
// 1.13 and throws for the rest. A macro below lets gotch call it.
#define PARTIAL(name)                                                                          \
  template <class... Arguments>                                                                \
  auto segue_##name(Arguments &&...arguments) {                                                \
    auto call = [](auto &&...a) -> decltype(torch::name(std::forward<decltype(a)>(a)...)) {    \
      return torch::name(std::forward<decltype(a)>(a)...);                                     \
    };                                                                                         \
    if constexpr (std::is_invocable_v<decltype(call), Arguments...>)                           \
      return call(std::forward<Arguments>(arguments)...);                                      \
    else                                                                                       \
      return segue::absent(#name);                                                             \
  }

namespace torch {

MISSING(_cslt_compress)
MISSING(_cslt_sparse_mm)
MISSING(_efficient_attention_backward)
MISSING(_fill_mem_eff_dropout_mask_)
MISSING(_flash_attention_backward)
MISSING(_functional_assert_async)
MISSING(_functional_sym_constrain_range)
MISSING(_functional_sym_constrain_range_for_size)
MISSING(_fused_sdp_choice)
MISSING(_int_mm)
MISSING(_int_mm_out)
MISSING(_is_all_true)
MISSING(_is_any_true)
MISSING(_make_dep_token)
MISSING(_native_batch_norm_legit)
MISSING(_native_batch_norm_legit_functional)
MISSING(_native_batch_norm_legit_no_training)
MISSING(_native_batch_norm_legit_no_training_out)
MISSING(_native_batch_norm_legit_out)
MISSING(_prelu_kernel)
MISSING(_prelu_kernel_backward)
MISSING(_propagate_xla_data)
MISSING(_reshape_copy)
MISSING(_scaled_dot_product_efficient_attention)
MISSING(_scaled_dot_product_flash_attention_backward)
MISSING(_scaled_mm)
MISSING(_scaled_mm_out)
MISSING(_sparse_mask_projection_out)
MISSING(_sparse_mm_reduce_impl)
MISSING(_sparse_semi_structured_linear)
MISSING(_test_check_tensor)
MISSING(_test_functorch_fallback)
MISSING(_test_functorch_fallback_out)
MISSING(_to_sparse_bsc_out)
MISSING(_to_sparse_bsr_out)
MISSING(_to_sparse_csc_out)
MISSING(_to_sparse_csr_out)
MISSING(_to_sparse_out)
MISSING(_to_sparse_semi_structured)
MISSING(_unsafe_index)
MISSING(_unsafe_index_put)
MISSING(empty_permuted)
MISSING(empty_permuted_out)
MISSING(max_pool2d_backward)
MISSING(max_pool2d_backward_out)
MISSING(mkldnn_rnn_layer)
MISSING(mkldnn_rnn_layer_backward)
MISSING(mkldnn_rnn_layer_backward_out)
MISSING(mkldnn_rnn_layer_out)
MISSING(nonzero_static)
MISSING(nonzero_static_out)
MISSING(quantized_max_pool3d)
MISSING(quantized_max_pool3d_out)
MISSING(scaled_dot_product_attention)
MISSING(sym_constrain_range)
MISSING(sym_constrain_range_for_size)

// There, with other results.
MISSING(segue__lstm_mps)
MISSING(segue__lstm_mps_out)

PARTIAL(_ctc_loss_out)
PARTIAL(_nested_view_from_buffer)
PARTIAL(_nested_view_from_buffer_copy)
PARTIAL(_nested_view_from_buffer_copy_out)
PARTIAL(_scaled_dot_product_attention_math)
PARTIAL(_sparse_coo_tensor_unsafe)
PARTIAL(_sparse_coo_tensor_with_dims_and_tensors)
PARTIAL(_sparse_coo_tensor_with_dims_and_tensors_out)
PARTIAL(_sparse_mm)
PARTIAL(_to_dense_out)
PARTIAL(max_out)
PARTIAL(min_out)
PARTIAL(mkldnn_reorder_conv2d_weight)
PARTIAL(mkldnn_reorder_conv2d_weight_out)
PARTIAL(sparse_coo_tensor)
PARTIAL(squeeze)
PARTIAL(squeeze_copy)
PARTIAL(squeeze_copy_out)
PARTIAL(std)
PARTIAL(std_mean)
PARTIAL(std_mean_out)
PARTIAL(std_out)
PARTIAL(to_dense_backward)
PARTIAL(var)
PARTIAL(var_mean)
PARTIAL(var_mean_out)
PARTIAL(var_out)

}  // namespace torch

#define _lstm_mps(...) segue__lstm_mps(__VA_ARGS__)
#define _lstm_mps_out(...) segue__lstm_mps_out(__VA_ARGS__)
#define _ctc_loss_out(...) segue__ctc_loss_out(__VA_ARGS__)
#define _nested_view_from_buffer(...) segue__nested_view_from_buffer(__VA_ARGS__)
#define _nested_view_from_buffer_copy(...) segue__nested_view_from_buffer_copy(__VA_ARGS__)
#define _nested_view_from_buffer_copy_out(...) segue__nested_view_from_buffer_copy_out(__VA_ARGS__)
#define _scaled_dot_product_attention_math(...) segue__scaled_dot_product_attention_math(__VA_ARGS__)
#define _sparse_coo_tensor_unsafe(...) segue__sparse_coo_tensor_unsafe(__VA_ARGS__)
#define _sparse_coo_tensor_with_dims_and_tensors(...) segue__sparse_coo_tensor_with_dims_and_tensors(__VA_ARGS__)
#define _sparse_coo_tensor_with_dims_and_tensors_out(...) segue__sparse_coo_tensor_with_dims_and_tensors_out(__VA_ARGS__)
#define _sparse_mm(...) segue__sparse_mm(__VA_ARGS__)
#define _to_dense_out(...) segue__to_dense_out(__VA_ARGS__)
#define max_out(...) segue_max_out(__VA_ARGS__)
#define min_out(...) segue_min_out(__VA_ARGS__)
#define mkldnn_reorder_conv2d_weight(...) segue_mkldnn_reorder_conv2d_weight(__VA_ARGS__)
#define mkldnn_reorder_conv2d_weight_out(...) segue_mkldnn_reorder_conv2d_weight_out(__VA_ARGS__)
#define sparse_coo_tensor(...) segue_sparse_coo_tensor(__VA_ARGS__)
#define squeeze(...) segue_squeeze(__VA_ARGS__)
#define squeeze_copy(...) segue_squeeze_copy(__VA_ARGS__)
#define squeeze_copy_out(...) segue_squeeze_copy_out(__VA_ARGS__)
#define std(...) segue_std(__VA_ARGS__)
#define std_mean(...) segue_std_mean(__VA_ARGS__)
#define std_mean_out(...) segue_std_mean_out(__VA_ARGS__)
#define std_out(...) segue_std_out(__VA_ARGS__)
#define to_dense_backward(...) segue_to_dense_backward(__VA_ARGS__)
#define var(...) segue_var(__VA_ARGS__)
#define var_mean(...) segue_var_mean(__VA_ARGS__)
#define var_mean_out(...) segue_var_mean_out(__VA_ARGS__)
#define var_out(...) segue_var_out(__VA_ARGS__)

// Methods: gotch's "self->name(...)" becomes "self->defined() ? throw : tensor".
#define ABSENT_METHOD(name) \
  defined() ? throw std::runtime_error(name " needs libtorch 2.1") : at::Tensor()
#define _sparse_mask_projection(...) ABSENT_METHOD("_sparse_mask_projection")
#define _to_dense(...) ABSENT_METHOD("_to_dense")
#define _to_sparse(...) ABSENT_METHOD("_to_sparse")
#define _to_sparse_bsc(...) ABSENT_METHOD("_to_sparse_bsc")
#define _to_sparse_bsr(...) ABSENT_METHOD("_to_sparse_bsr")
#define _to_sparse_csc(...) ABSENT_METHOD("_to_sparse_csc")
#define _to_sparse_csr(...) ABSENT_METHOD("_to_sparse_csr")
#define squeeze_(...) ABSENT_METHOD("squeeze_")
#define to_dense(...) ABSENT_METHOD("to_dense")
#define to_sparse(...) ABSENT_METHOD("to_sparse")
#define to_sparse_bsc(...) ABSENT_METHOD("to_sparse_bsc")
#define to_sparse_bsr(...) ABSENT_METHOD("to_sparse_bsr")
#define to_sparse_csc(...) ABSENT_METHOD("to_sparse_csc")
#define to_sparse_csr(...) ABSENT_METHOD("to_sparse_csr")

#endif  // TORCH_VERSION_MAJOR < 2
