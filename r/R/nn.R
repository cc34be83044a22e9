# Modules: functions with parameters. A module is a function of its input; what it holds is in an
# environment that all copies share.

nn_module <- function(classname = NULL, ...) {
  members <- list(...)
  if (length(members) && (is.null(names(members)) || !all(nzchar(names(members))))) {
    refuse("nn_module() takes methods and fields by their names")
  }
  known <- c("inherit", "private", "active", "parent_env")
  if (any(known %in% names(members))) {
    refuse("nn_module() has no ", paste(intersect(known, names(members)), collapse = ", "), " here")
  }
  if (!is.function(members$forward)) {
    refuse("nn_module() needs the method forward()")
  }
  function(...) {
    self <- new_module(c(classname, "nn_module"))
    held <- attr(self, "held")
    for (name in names(members)) {
      member <- members[[name]]
      if (is.function(member)) {
        around <- new.env(parent = environment(member))
        around$self <- self
        environment(member) <- around
      }
      held$members[[name]] <- member
    }
    if (is.function(held$members$initialize)) {
      held$members$initialize(...)
    } else if (...length()) {
      refuse("this module has no method initialize(), so it takes no arguments")
    }
    self
  }
}

new_module <- function(classes) {
  held <- new.env(parent = emptyenv())
  held$members <- list() # methods and fields
  held$values <- list() # parameters, buffers and modules, in the order in which they were set
  held$training <- TRUE
  self <- function(...) held$members$forward(...)
  structure(self, class = classes, held = held)
}

is_nn_module <- function(x) inherits(x, "nn_module")
is_nn_parameter <- function(x) is_torch_tensor(x) && isTRUE(.subset2(x, "is_parameter"))

nn_parameter <- function(x, requires_grad = TRUE) {
  made <- new_tensor(tensor_object(torch_detach(x)$requires_grad_(requires_grad)))
  assign("is_parameter", TRUE, envir = made)
  made
}

nn_buffer <- function(x, persistent = TRUE) {
  if (!persistent) {
    refuse("nn_buffer() keeps buffers in state_dict(): persistent must be TRUE")
  }
  made <- new_tensor(tensor_object(x))
  assign("is_buffer", TRUE, envir = made)
  made
}

is_nn_buffer <- function(x) is_torch_tensor(x) && isTRUE(.subset2(x, "is_buffer"))

methods_of_modules <- list(
  train = function(self, mode = TRUE) {
    attr(self, "held")$training <- mode
    for (module in self$children) {
      module$train(mode)
    }
    invisible(self)
  },
  eval = function(self) self$train(FALSE),
  zero_grad = function(self) {
    for (parameter in self$parameters) {
      if (!is_undefined_tensor(parameter$grad)) parameter$grad$zero_()
    }
    invisible(self)
  },
  state_dict = function(self) lapply(collected(self, is_torch_tensor), torch_detach),
  load_state_dict = function(self, state_dict) {
    own <- collected(self, is_torch_tensor)
    if (!setequal(names(own), names(state_dict))) {
      refuse("state_dict must have the names ", paste(names(own), collapse = ", "))
    }
    with_no_grad(for (name in names(own)) own[[name]]$copy_(state_dict[[name]]))
    invisible(self)
  },
  register_parameter = function(self, name, param) set_member(self, name, nn_parameter(param)),
  register_buffer = function(self, name, tensor) set_member(self, name, nn_buffer(tensor)),
  to = function(self, dtype = NULL, device = NULL) {
    check_device(device)
    if (!is.null(dtype)) {
      refuse("to() of a module changes no dtype here: make its parameters in that dtype")
    }
    self
  }
)

# The tensors of a module and of those in it that are wanted, by names with dots.
collected <- function(module, wanted) {
  found <- list()
  values <- attr(module, "held")$values
  for (name in names(values)) {
    value <- values[[name]]
    if (is_nn_module(value)) {
      inner <- collected(value, wanted)
      if (length(inner)) {
        names(inner) <- paste0(name, ".", names(inner))
      }
      found <- c(found, inner)
    } else if (wanted(value)) {
      found[[name]] <- value
    }
  }
  found
}

set_member <- function(module, name, value) {
  held <- attr(module, "held")
  if (is_nn_module(value) || is_nn_parameter(value) || is_nn_buffer(value)) {
    held$members[[name]] <- NULL
    held$values[[name]] <- value
  } else {
    held$values[[name]] <- NULL
    held$members[name] <- list(value)
  }
  invisible(module)
}

`$.nn_module` <- function(x, name) {
  held <- attr(x, "held")
  if (name %in% names(held$values)) {
    return(held$values[[name]])
  }
  if (name %in% names(held$members)) {
    return(held$members[[name]])
  }
  switch(name,
    parameters = collected(x, is_nn_parameter),
    buffers = collected(x, is_nn_buffer),
    children = Filter(is_nn_module, held$values),
    training = held$training,
    {
      method <- methods_of_modules[[name]]
      if (!is.null(method)) function(...) method(x, ...)
    }
  )
}

`[[.nn_module` <- function(x, i) {
  if (is.character(i)) `$.nn_module`(x, i) else x$children[[i]]
}

`$<-.nn_module` <- function(x, name, value) {
  set_member(x, name, value)
  x
}

`[[<-.nn_module` <- `$<-.nn_module`

length.nn_module <- function(x) length(x$children)

print.nn_module <- function(x, ...) {
  count <- sum(vapply(x$parameters, length, integer(1)))
  cat("An `nn_module` containing ", format(count, big.mark = ","), " parameters.\n", sep = "")
  values <- attr(x, "held")$values
  for (name in names(values)) {
    value <- values[[name]]
    kind <- if (is_nn_module(value)) class(value)[1] else paste(dim(value), collapse = " x ")
    cat("* ", name, ": <", kind, ">\n", sep = "")
  }
  invisible(x)
}

# --- layers ---

nn_linear <- nn_module(
  "nn_linear",
  initialize = function(in_features, out_features, bias = TRUE) {
    bound <- 1 / sqrt(in_features)
    uniform <- function(...) (torch_rand(...) * 2 - 1) * bound
    self$weight <- nn_parameter(uniform(out_features, in_features))
    self$bias <- if (bias) nn_parameter(uniform(out_features))
  },
  forward = function(input) nnf_linear(input, self$weight, self$bias)
)

nn_sequential <- nn_module(
  "nn_sequential",
  initialize = function(...) {
    layers <- list(...)
    for (i in seq_along(layers)) {
      set_member(self, as.character(i - 1), layers[[i]])
    }
  },
  forward = function(input) {
    for (layer in self$children) {
      input <- layer(input)
    }
    input
  }
)

nn_relu <- nn_module("nn_relu", forward = function(input) torch_relu(input))
nn_sigmoid <- nn_module("nn_sigmoid", forward = function(input) torch_sigmoid(input))
nn_tanh <- nn_module("nn_tanh", forward = function(input) torch_tanh(input))
nn_softmax <- nn_module(
  "nn_softmax",
  initialize = function(dim) self$dim <- dim,
  forward = function(input) torch_softmax(input, self$dim)
)

# --- losses ---

nn_mse_loss <- nn_module(
  "nn_mse_loss",
  initialize = function(reduction = "mean") self$reduction <- reduction,
  forward = function(input, target) nnf_mse_loss(input, target, self$reduction)
)
nn_cross_entropy_loss <- nn_module(
  "nn_cross_entropy_loss",
  initialize = function(reduction = "mean") self$reduction <- reduction,
  forward = function(input, target) nnf_cross_entropy(input, target, self$reduction)
)

nnf_linear <- function(input, weight, bias = NULL) {
  out <- torch_matmul(input, torch_t(weight))
  if (is.null(bias)) out else out + bias
}

nnf_relu <- function(input) torch_relu(input)
nnf_sigmoid <- function(input) torch_sigmoid(input)
nnf_softmax <- function(input, dim) torch_softmax(input, dim)
nnf_log_softmax <- function(input, dim) torch_log_softmax(input, dim)

nnf_mse_loss <- function(input, target, reduction = "mean") reduced((input - target)^2, reduction)
nnf_l1_loss <- function(input, target, reduction = "mean") reduced(abs(input - target), reduction)

nnf_nll_loss <- function(input, target, reduction = "mean") {
  if (input$ndim != 2 || target$ndim != 1 || dim(target) != dim(input)[1]) {
    refuse("target must have the number of a class for each row of a matrix of probabilities")
  }
  reduced(-torch_gather(input, 2, target$unsqueeze(2))$squeeze(2), reduction)
}

nnf_cross_entropy <- function(input, target, reduction = "mean") {
  nnf_nll_loss(torch_log_softmax(input, 2), target, reduction)
}

reduced <- function(losses, reduction) {
  switch(reduction,
    mean = torch_mean(losses),
    sum = torch_sum(losses),
    none = losses,
    refuse("reduction must be \"mean\", \"sum\" or \"none\", not ", reduction)
  )
}
