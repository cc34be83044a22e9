# Differentiation.

autograd_grad <- function(outputs, inputs, grad_outputs = NULL, retain_graph = create_graph,
                          create_graph = FALSE, allow_unused = FALSE) {
  found <- call_python(
    "autograd_grad", outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused
  )
  lapply(found, defined_or_undefined)
}

autograd_backward <- function(tensors, grad_tensors = NULL, retain_graph = create_graph,
                              create_graph = FALSE) {
  call_python("autograd_backward", tensors, grad_tensors, retain_graph, create_graph)
  invisible(NULL)
}

with_no_grad <- function(code) with_context("no_grad", code)
with_enable_grad <- function(code) with_context("enable_grad", code)
with_detect_anomaly <- function(code) with_context("detect_anomaly", code)

with_context <- function(name, code) {
  leave <- entered(name)
  on.exit(leave())
  force(code)
}

# Enter a context of Python, and give the function that leaves it.
entered <- function(name) {
  manager <- called(python_function(name))
  called(reticulate::py_get_attr(manager, "__enter__"))
  function() called(reticulate::py_get_attr(manager, "__exit__"), list(NULL, NULL, NULL))
}

local_no_grad <- function(.env = parent.frame()) in_frame("no_grad", .env)
local_enable_grad <- function(.env = parent.frame()) in_frame("enable_grad", .env)

# Enter a context until the function of a frame returns.
in_frame <- function(name, frame) {
  leave <- entered(name)
  do.call(on.exit, list(as.call(list(leave)), add = TRUE), envir = frame)
  invisible(NULL)
}

autograd_set_grad_mode <- function(enabled) {
  before <- call_python("is_grad_enabled")
  call_python("set_grad_enabled", enabled)
  invisible(before)
}

autograd_function <- function(forward, backward) {
  names_of_arguments <- names(formals(forward))[-1]
  function(...) {
    given <- as.list(match.call(function_like(forward), as.call(c(quote(f), list(...)))))[-1]
    is_input <- vapply(given, is_torch_tensor, logical(1))
    input_names <- names(given)[is_input]
    if (!all(input_names %in% names_of_arguments)) {
      refuse("forward() of an autograd_function must have an argument for each tensor")
    }
    saved <- new.env(parent = emptyenv())
    run_forward <- function(object, ...) {
      given[is_input] <- list(...)
      do.call(forward, c(list(new_context(object, saved, names_of_arguments, input_names)), given))
    }
    run_backward <- function(object, ...) {
      context <- new_context(object, saved, names_of_arguments, input_names)
      gradients <- backward(context, ...)
      if (!is.list(gradients) || !all(names(gradients) %in% names_of_arguments) ||
        (length(gradients) && is.null(names(gradients)))) {
        refuse("backward() of an autograd_function must return a list, by the names of arguments")
      }
      unname(lapply(input_names, function(name) gradients[[name]]))
    }
    run(
      python_function("apply_function"),
      c(list(callback(run_forward), callback(run_backward)), unname(given[is_input]))
    )
  }
}

# A function with the arguments of `forward` but the first, the context.
function_like <- function(forward) {
  formals(forward) <- formals(forward)[-1]
  forward
}

# What a forward function keeps for its backward function, as torch for R has it.
new_context <- function(object, saved, names_of_arguments, input_names) {
  context <- function_context(object, saved, input_names)
  needed <- as.list(unlist(from_python(reticulate::py_get_attr(object, "needs_input_grad")))[-(1:2)])
  names(needed) <- input_names
  context$needs_input_grad <- lapply(
    stats::setNames(nm = names_of_arguments), function(name) isTRUE(needed[[name]])
  )
  context
}

function_context <- function(object, saved, input_names) {
  context <- new.env(parent = emptyenv())
  context$save_for_backward <- function(...) {
    values <- list(...)
    saved$is_tensor <- vapply(values, is_torch_tensor, logical(1))
    saved$values <- values
    saved$values[saved$is_tensor] <- list(NULL)
    tensors <- unname(lapply(values[saved$is_tensor], tensor_object))
    called(reticulate::py_get_attr(object, "save_for_backward"), tensors)
    invisible(NULL)
  }
  saved_variables <- function() {
    values <- saved$values
    tensors <- from_python(asked(reticulate::py_get_attr(object, "saved_tensors")))
    values[saved$is_tensor] <- tensors
    values
  }
  makeActiveBinding("saved_variables", saved_variables, context)
  makeActiveBinding("saved_variable", saved_variables, context) # as torch's example has it
  for (name in c("mark_dirty", "mark_non_differentiable")) {
    context[[name]] <- marking(reticulate::py_get_attr(object, name))
  }
  context
}

marking <- function(method) {
  force(method)
  function(...) {
    called(method, unname(lapply(list(...), tensor_object)))
    invisible(NULL)
  }
}
