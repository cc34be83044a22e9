# Calls of Python. Everything that crosses between R and Python does so here.

python <- new.env(parent = emptyenv())

# A function of the module arraygrad.compat.rtorch, or of a module in it: "indexing.read".
# Python starts, and the module is imported, at the first use.
python_function <- function(name) {
  if (is.null(python$functions)) {
    python$module <- asked(reticulate::import("arraygrad.compat.rtorch", convert = FALSE))
    python$functions <- new.env(parent = emptyenv())
  }
  found <- python$functions[[name]]
  if (is.null(found)) {
    found <- python$module
    for (part in strsplit(name, ".", fixed = TRUE)[[1]]) {
      found <- asked(reticulate::py_get_attr(found, part))
    }
    python$functions[[name]] <- found
  }
  found
}

# Call a function of the module. NULL is passed as None.
call_python <- function(name, ...) {
  run(python_function(name), list(...))
}

# Call a method of a tensor in Python.
call_method <- function(x, name, ...) {
  run(reticulate::py_get_attr(tensor_object(x), name), list(...))
}

run <- function(object, arguments) {
  arguments <- lapply(arguments, to_python)
  from_python(called(object, arguments))
}

called <- function(object, arguments = list()) {
  asked(do.call(reticulate::py_call, c(list(object), arguments)))
}

attribute <- function(x, name) {
  from_python(asked(reticulate::py_get_attr(tensor_object(x), name)))
}

# Evaluate code that calls Python. An error of Python becomes a condition of R that has the message
# alone. Its classes are "arraygrad_error" and the name of Python's class.
asked <- function(code) {
  tryCatch(code, error = function(e) {
    stop(if (inherits(e, "arraygrad_error")) e else condition_of(conditionMessage(e)))
  })
}

condition_of <- function(message) {
  message <- sub("\n?Run `?reticulate::py_last_error\\(\\)`? for details\\.?\\s*$", "", message)
  pattern <- "^(?:[a-z_.]*\\.)?(\\w*(Error|Exception|Interrupt)): *"
  kind <- regmatches(message, regexec(pattern, message, perl = TRUE))[[1]][2]
  structure(
    class = c("arraygrad_error", if (!is.na(kind)) kind, "error", "condition"),
    list(message = trimws(sub(pattern, "", message, perl = TRUE)), call = NULL)
  )
}

refuse <- function(...) {
  stop(structure(
    class = c("arraygrad_error", "error", "condition"),
    list(message = paste0(...), call = NULL)
  ))
}

# R's values for Python: tensors and dtypes are unwrapped, also within lists.
to_python <- function(value) {
  if (inherits(value, "torch_tensor")) {
    tensor_object(value)
  } else if (inherits(value, "torch_dtype")) {
    .subset2(value, "name")
  } else if (is.list(value) && !is.object(value)) {
    unname(lapply(value, to_python)) # names would make a dict of it
  } else if (is.numeric(value) && length(value) != 1) {
    as.list(value)
  } else {
    value
  }
}

# Python's values for R: tensors are wrapped, tuples and lists become lists.
from_python <- function(value) {
  if (is.list(value) && !is.object(value)) {
    lapply(value, from_python) # of a tuple in a tuple
  } else if (!inherits(value, "python.builtin.object")) {
    value
  } else if (inherits(value, "arraygrad.arrays.tensor.Tensor")) {
    new_tensor(value)
  } else if (inherits(value, c("python.builtin.tuple", "python.builtin.list"))) {
    lapply(reticulate::py_to_r(value), from_python)
  } else {
    reticulate::py_to_r(value)
  }
}

# A function of R for Python to call: it gets tensors and gives tensors, NULL or a list of these.
callback <- function(f) {
  reticulate::r_to_py(function(...) to_python(do.call(f, lapply(list(...), from_python))), FALSE)
}
