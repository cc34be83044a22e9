# Optimisers: each changes the parameters in place, by their gradients.

optim_sgd <- function(params, lr, momentum = 0, dampening = 0, weight_decay = 0, nesterov = FALSE) {
  new_optimizer("SGD", params, list(
    lr = lr, momentum = momentum, dampening = dampening, weight_decay = weight_decay,
    nesterov = nesterov
  ))
}

optim_adam <- function(params, lr = 1e-3, betas = c(0.9, 0.999), eps = 1e-8, weight_decay = 0,
                       amsgrad = FALSE) {
  new_optimizer("Adam", params, list(
    lr = lr, betas = as.list(betas), eps = eps, weight_decay = weight_decay, amsgrad = amsgrad
  ))
}

optim_adamw <- function(params, lr = 1e-3, betas = c(0.9, 0.999), eps = 1e-8, weight_decay = 1e-2,
                        amsgrad = FALSE) {
  new_optimizer("AdamW", params, list(
    lr = lr, betas = as.list(betas), eps = eps, weight_decay = weight_decay, amsgrad = amsgrad
  ))
}

optim_adagrad <- function(params, lr = 1e-2, lr_decay = 0, weight_decay = 0,
                          initial_accumulator_value = 0, eps = 1e-10) {
  new_optimizer("Adagrad", params, list(
    lr = lr, lr_decay = lr_decay, weight_decay = weight_decay,
    initial_accumulator_value = initial_accumulator_value, eps = eps
  ))
}

optim_rmsprop <- function(params, lr = 1e-2, alpha = 0.99, eps = 1e-8, weight_decay = 0,
                          momentum = 0, centered = FALSE) {
  new_optimizer("RMSprop", params, list(
    lr = lr, alpha = alpha, eps = eps, weight_decay = weight_decay, momentum = momentum,
    centered = centered
  ))
}

new_optimizer <- function(name, params, options) {
  params <- if (is_torch_tensor(params)) list(params) else params
  if (!length(params) || !all(vapply(params, is_torch_tensor, logical(1)))) {
    refuse("params must be a list of tensors, such as model$parameters")
  }
  tensors <- unname(lapply(params, tensor_object))
  make <- python_function("optim.optimizer")
  object <- called(make, list(name, tensors, reticulate::r_to_py(options)))
  optimizer <- new.env(parent = emptyenv())
  optimizer$object <- object
  optimizer$zero_grad <- function() {
    called(reticulate::py_get_attr(object, "zero_grad"), list(FALSE))
    invisible(NULL)
  }
  optimizer$step <- function(closure = NULL) {
    loss <- if (is.null(closure)) NULL else with_enable_grad(closure())
    called(reticulate::py_get_attr(object, "step"))
    invisible(loss)
  }
  class(optimizer) <- "torch_optimizer"
  optimizer
}

print.torch_optimizer <- function(x, ...) {
  cat("<torch_optimizer>\n")
  invisible(x)
}
