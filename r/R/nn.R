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
