# First values of parameters, written to a tensor in place, and bounds for gradients.

nn_init_constant_ <- function(tensor, val) filled(tensor, torch_full_like(tensor, val))
nn_init_zeros_ <- function(tensor) nn_init_constant_(tensor, 0)
nn_init_ones_ <- function(tensor) nn_init_constant_(tensor, 1)

nn_init_normal_ <- function(tensor, mean = 0, std = 1) {
  filled(tensor, mean + std * torch_randn_like(tensor))
}

nn_init_uniform_ <- function(tensor, a = 0, b = 1) {
  filled(tensor, a + (b - a) * torch_rand_like(tensor))
}

nn_init_eye_ <- function(tensor) {
  if (tensor$ndim != 2) {
    refuse("nn_init_eye_() is for matrices")
  }
  filled(tensor, torch_eye(dim(tensor)[1], dim(tensor)[2]))
}

nn_init_xavier_uniform_ <- function(tensor, gain = 1) {
  bound <- gain * sqrt(6 / sum(fans(tensor)))
  nn_init_uniform_(tensor, -bound, bound)
}

nn_init_xavier_normal_ <- function(tensor, gain = 1) {
  nn_init_normal_(tensor, 0, gain * sqrt(2 / sum(fans(tensor))))
}

nn_init_kaiming_uniform_ <- function(tensor, a = 0, mode = "fan_in", nonlinearity = "leaky_relu") {
  bound <- sqrt(3) * kaiming_deviation(tensor, a, mode, nonlinearity)
  nn_init_uniform_(tensor, -bound, bound)
}

nn_init_kaiming_normal_ <- function(tensor, a = 0, mode = "fan_in", nonlinearity = "leaky_relu") {
  nn_init_normal_(tensor, 0, kaiming_deviation(tensor, a, mode, nonlinearity))
}

nn_init_calculate_gain <- function(nonlinearity, param = 0.01) {
  switch(nonlinearity,
    linear = 1,
    sigmoid = 1,
    tanh = 5 / 3,
    relu = sqrt(2),
    leaky_relu = sqrt(2 / (1 + param^2)),
    refuse("there is no gain for ", nonlinearity)
  )
}

kaiming_deviation <- function(tensor, a, mode, nonlinearity) {
  if (!mode %in% c("fan_in", "fan_out")) {
    refuse("mode must be \"fan_in\" or \"fan_out\", not ", mode)
  }
  nn_init_calculate_gain(nonlinearity, a) / sqrt(fans(tensor)[[mode]])
}

# How many inputs each output of a layer has, and how many outputs each input.
fans <- function(tensor) {
  shape <- dim(tensor)
  if (length(shape) < 2) {
    refuse("a tensor with fewer than two dimensions has no inputs and outputs")
  }
  around <- prod(shape[-(1:2)])
  c(fan_in = shape[2] * around, fan_out = shape[1] * around)
}

# Write values to a tensor, without recording it.
filled <- function(tensor, values) {
  with_no_grad(tensor$copy_(values))
  invisible(tensor)
}

nn_utils_clip_grad_norm_ <- function(parameters, max_norm, norm_type = 2) {
  gradients <- gradients_of(parameters)
  total <- torch_norm(torch_stack(lapply(gradients, torch_norm, norm_type)), norm_type)
  factor <- min(1, max_norm / (total$item() + 1e-6))
  with_no_grad(for (gradient in gradients) gradient$mul_(factor))
  invisible(total)
}

nn_utils_clip_grad_value_ <- function(parameters, clip_value) {
  with_no_grad({
    for (gradient in gradients_of(parameters)) gradient$clamp_(-clip_value, clip_value)
  })
  invisible(NULL)
}

gradients_of <- function(parameters) {
  parameters <- if (is_torch_tensor(parameters)) list(parameters) else parameters
  found <- Filter(Negate(is_undefined_tensor), lapply(parameters, function(p) p$grad))
  if (!length(found)) {
    refuse("none of the parameters has a gradient: call backward() first")
  }
  unname(found)
}
