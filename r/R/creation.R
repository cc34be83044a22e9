# New tensors.

torch_arange <- function(start, end, step = 1, dtype = NULL, device = NULL, requires_grad = FALSE) {
  check_device(device)
  call_python("torch_arange", start, end, step, dtype = dtype, requires_grad = requires_grad)
}

torch_empty <- function(..., dtype = NULL, device = NULL, requires_grad = FALSE) {
  check_device(device)
  call_python("torch_empty", ..., dtype = dtype, requires_grad = requires_grad)
}

torch_empty_like <- function(input, dtype = NULL, device = NULL, requires_grad = FALSE) {
  check_device(device)
  call_python("torch_empty_like", input, dtype = dtype, requires_grad = requires_grad)
}

torch_eye <- function(n, m = n, dtype = NULL, device = NULL, requires_grad = FALSE) {
  check_device(device)
  call_python("torch_eye", n, m, dtype = dtype, requires_grad = requires_grad)
}

torch_full <- function(size, fill_value, dtype = NULL, device = NULL, requires_grad = FALSE) {
  check_device(device)
  call_python("torch_full", size, fill_value, dtype = dtype, requires_grad = requires_grad)
}

torch_full_like <- function(input, fill_value, dtype = NULL, device = NULL, requires_grad = FALSE) {
  check_device(device)
  call_python("torch_full_like", input, fill_value, dtype = dtype, requires_grad = requires_grad)
}

torch_linspace <- function(start, end, steps = 100, dtype = NULL, device = NULL,
                           requires_grad = FALSE) {
  check_device(device)
  call_python("torch_linspace", start, end, steps, dtype = dtype, requires_grad = requires_grad)
}

torch_logspace <- function(start, end, steps = 100, base = 10, dtype = NULL, device = NULL,
                           requires_grad = FALSE) {
  check_device(device)
  call_python(
    "torch_logspace", start, end, steps, base,
    dtype = dtype, requires_grad = requires_grad
  )
}

torch_normal <- function(mean, std, size = NULL) call_python("torch_normal", mean, std, size)

torch_complex <- function(real, imag) call_python("torch_complex", real, imag)

torch_ones <- function(..., dtype = NULL, device = NULL, requires_grad = FALSE) {
  check_device(device)
  call_python("torch_ones", ..., dtype = dtype, requires_grad = requires_grad)
}

torch_ones_like <- function(input, dtype = NULL, device = NULL, requires_grad = FALSE) {
  check_device(device)
  call_python("torch_ones_like", input, dtype = dtype, requires_grad = requires_grad)
}

torch_rand <- function(..., dtype = NULL, device = NULL, requires_grad = FALSE) {
  check_device(device)
  call_python("torch_rand", ..., dtype = dtype, requires_grad = requires_grad)
}

torch_rand_like <- function(input, dtype = NULL, device = NULL, requires_grad = FALSE) {
  check_device(device)
  call_python("torch_rand_like", input, dtype = dtype, requires_grad = requires_grad)
}

torch_randint <- function(low, high, size, dtype = NULL, device = NULL, requires_grad = FALSE) {
  check_device(device)
  call_python("torch_randint", low, high, size, dtype = dtype, requires_grad = requires_grad)
}

torch_randn <- function(..., dtype = NULL, device = NULL, requires_grad = FALSE) {
  check_device(device)
  call_python("torch_randn", ..., dtype = dtype, requires_grad = requires_grad)
}

torch_randn_like <- function(input, dtype = NULL, device = NULL, requires_grad = FALSE) {
  check_device(device)
  call_python("torch_randn_like", input, dtype = dtype, requires_grad = requires_grad)
}

torch_randperm <- function(n) {
  call_python("torch_randperm", n)
}

torch_scalar_tensor <- function(value, dtype = NULL, device = NULL, requires_grad = FALSE) {
  check_device(device)
  call_python("torch_scalar_tensor", value, dtype = dtype, requires_grad = requires_grad)
}

torch_zeros <- function(..., dtype = NULL, device = NULL, requires_grad = FALSE) {
  check_device(device)
  call_python("torch_zeros", ..., dtype = dtype, requires_grad = requires_grad)
}

torch_zeros_like <- function(input, dtype = NULL, device = NULL, requires_grad = FALSE) {
  check_device(device)
  call_python("torch_zeros_like", input, dtype = dtype, requires_grad = requires_grad)
}

torch_manual_seed <- function(seed) invisible(call_python("torch_manual_seed", seed))
