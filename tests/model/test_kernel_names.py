"""Real kernel names and what they say."""

from __future__ import annotations

import pytest

from gpuprof.model.kernel_names import KernelCategory as C
from gpuprof.model.kernel_names import Precision as P
from gpuprof.model.kernel_names import alignment_of, category_of, function_name, precision_of, works_in_double

PRODUCTS = [
    ("volta_sgemm_128x64_nn", C.GEMM, P.FP32),
    ("ampere_sgemm_32x32_sliced1x4_tn", C.GEMM, P.FP32),
    ("void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nt_align1>(P)", C.GEMM, P.FP32),
    ("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8", C.GEMM, P.FP32),
    ("void gemmSN_TN_kernel<float, 128, 16, 2, 4, 4, 4, true, cublasGemv<float const>>(X)", C.GEMM, P.FP32),
    ("void gemmSN_TN_kernel<float, 128, 16, 2, 4, 4, 4, true, cublasGemv<__nv_bfloat16 const>>", C.GEMM, P.REDUCED),
    ("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align1>(P)", C.GEMM, P.TF32),
    ("sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x16_stage4_tensor16x8x8", C.GEMM, P.TF32),
    ("void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_tn_align1>(P)", C.GEMM, P.REDUCED),
    ("turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn", C.GEMM, P.REDUCED),
    ("volta_h884gemm_64x128_ldg8_nn", C.GEMM, P.REDUCED),
    ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", C.GEMM, P.REDUCED),
    ("nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNT", C.GEMM, P.REDUCED),
    ("cutlass_80_tensorop_d884gemm_64x32_16x4_tn_align1", C.GEMM, P.FP64),
    ("volta_dgemm_64x64_nn", C.GEMM, P.FP64),
    ("Cijk_Ailk_Bljk_SB_MT128x64x8_SE_1LDSB0", C.GEMM, P.FP32),
    ("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64", C.GEMM, P.REDUCED),
    ("Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT128x224x64", C.GEMM, P.REDUCED),
    ("void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float>(X)", C.GEMM, P.UNKNOWN),
    ("void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>(int)", C.CONVOLUTION, P.FP32),
    ("void implicit_convolve_sgemm<float, float, 1024, 6, 7, 3, 3, 5, 1>(int)", C.CONVOLUTION, P.FP32),
    ("volta_scudnn_128x128_stridedB_splitK_small_nn_v1", C.CONVOLUTION, P.FP32),
    ("volta_fp16_s884cudnn_fp16_256x128_ldg8_relu_f2f_exp_small_nhwc_tn_v1", C.CONVOLUTION, P.REDUCED),
    ("void cutlass_cudnn_infer::Kernel<cutlass_tensorop_s1688dgrad_optimized_tf32_128x64>", C.CONVOLUTION, P.TF32),
    ("igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x64x32", C.CONVOLUTION, P.REDUCED),
    ("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<32, cutlass::bfloat16_t>>", C.ATTENTION, P.REDUCED),
    ("fmha_cutlassF_f32_aligned_64x64_rf_sm80(AttentionKernel<float, Sm80>)", C.ATTENTION, P.UNKNOWN),
]

OTHERS = [
    ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", C.COLLECTIVE),
    ("void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, float>(long)", C.OPTIMIZER),
    ("void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>(cudnnTensorStruct)", C.NORMALISATION),
    ("void at::native::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float)", C.NORMALISATION),
    ("void cudnn::ops::nchwToNhwcKernel<float, float, float, true, false>(int)", C.COPY_LIKE),
    ("void at::native::elementwise_kernel<128, 4, direct_copy_kernel_cuda(TensorIteratorBase&)>", C.COPY_LIKE),
    ("void at::native::vectorized_elementwise_kernel<4, fbgemm_gpu::_hfp8_to_float_gpu(Tensor)>", C.ELEMENTWISE),
    ("void at::native::unrolled_elementwise_kernel<compare_scalar<float>, LoadWithCast<1>>(int)", C.ELEMENTWISE),
    ("triton_poi_fused_add_gelu_0", C.ELEMENTWISE),
    ("triton_red_fused_native_layer_norm_2", C.NORMALISATION),
    ("void at::native::reduce_kernel<512, 1, ReduceOp<float, MeanOps<float>>>(X)", C.REDUCTION),
    ("void cunn_SoftMaxForward<8, c10::BFloat16, float>(X)", C.REDUCTION),
    ("void max_pool_forward_nchw<float, float>(int)", C.OTHER),
    ("void fbgemm_gpu::bounds_check_indices_kernel<long>(X)", C.OTHER),
]


@pytest.mark.parametrize(("name", "category", "precision"), PRODUCTS)
def test_matrix_products(name: str, category: C, precision: P):
    assert (category_of(name), precision_of(name)) == (category, precision)


@pytest.mark.parametrize(("name", "category"), OTHERS)
def test_other_kernels(name: str, category: C):
    assert category_of(name) is category


@pytest.mark.parametrize(
    ("name", "double"),
    [
        ("volta_dgemm_64x64_nn", True),
        ("void at::native::(anonymous namespace)::upsample_bilinear2d_out_frame<double, double>(int, double)", True),
        ("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<double> >(int)", True),
        ("void reduce_kernel<512, 1, ReduceOp<double, func_wrapper_t<double, sum_functor<double> > > >(X)", True),
        ("void radixSortKVInPlace<-2, -1, 64, 32, double, long, unsigned int>(X)", True),
        ("void vectorized_elementwise_kernel<4, log_kernel_cuda(X)::{lambda()#2}::{lambda(double)#1}>(int)", True),
        ("void distribution_elementwise_grid_stride_kernel<float, 4, uniform_kernel(X&, double, double)>(int)", False),
        ("void vectorized_elementwise_kernel<4, nan_to_num_kernel_cuda(X&, c10::optional<double>)>(int)", False),
        ("void vision::ops::(anonymous namespace)::nms_kernel_impl<float>(int, double, float const*)", False),
        ("void upsample_bilinear2d_out_frame<c10::BFloat16, float>(int, float)", False),
    ],
)
def test_elements_in_double(name: str, double: bool):
    assert works_in_double(name) is double


@pytest.mark.parametrize(
    ("name", "elements"),
    [
        ("void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_tn_align1>(P)", 1),
        ("cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8", 8),
        ("sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_nhwckrsc_nchw_alignc4_execute_kernel_cudnn", 4),
        ("CatArrayBatchedCopy_aligned16_contig<double, unsigned int, 3, 128, 1>(double*)", None),
        ("volta_sgemm_128x64_nn", None),
    ],
)
def test_alignment(name: str, elements: int | None):
    assert alignment_of(name) == elements


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, "
            "3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
            "vectorized_elementwise_kernel (CUDAFunctor_add)",
        ),
        (
            "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float, float, float>(float*, float*, int)",
            "cunn_SoftMaxForward",
        ),
        (
            "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::"
            "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}> >(int)",
            "elementwise_kernel (direct_copy_kernel_cuda)",
        ),
        (
            "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x32x64_MI16x16x1_SN_LDSB1_AFC1_AFEM1_CADS0",
            "Cijk_Alik_Bljk_BBS_BH_Bias…MT256x32x64…",
        ),
        ("aten::mm", "aten::mm"),
        ("autograd::engine::evaluate_function: MulBackward0", "autograd::engine::evaluate_function: MulBackward0"),
        (
            "transformers/pipelines/video_classification.py(174): read_video_pyav",
            "pipelines/video_classification.py(174): read_video_pyav",
        ),
        ("x" * 80, "x" * 59 + "…"),
    ],
)
def test_a_sentence_holds_the_function_of_a_kernel(name: str, said: str) -> None:
    assert function_name(name) == said
