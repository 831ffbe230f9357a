//! The exception for each kind of error.

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use sapwood::error::{Error, ErrorKind};

create_exception!(sapwood, InputError, PyValueError, "What was given cannot be learned or predicted from. `args` is (message, code).");
create_exception!(sapwood, ConfigError, PyValueError, "A parameter is outside what is allowed. `args` is (message, code).");
create_exception!(
    sapwood,
    ModelFileError,
    PyValueError,
    "A model file is damaged, truncated, or from a newer version. `args` is (message, code)."
);

create_exception!(
    sapwood,
    EngineError,
    PyRuntimeError,
    "The engine is at fault, or the model cannot be used after such a fault. `args` is (message, code)."
);

pub fn to_python(error: Error) -> PyErr {
    let args = (error.to_string(), error.code());
    match error.kind() {
        ErrorKind::Input => InputError::new_err(args),
        ErrorKind::Config => ConfigError::new_err(args),
        ErrorKind::ModelFile => ModelFileError::new_err(args),
        ErrorKind::Engine => EngineError::new_err(args),
    }
}

/// All errors of the engine: (code, exception class name, an example of the message).
#[pyfunction]
pub fn error_catalogue() -> Vec<(&'static str, &'static str, String)> {
    let class = |kind| match kind {
        ErrorKind::Input => "InputError",
        ErrorKind::Config => "ConfigError",
        ErrorKind::ModelFile => "ModelFileError",
        ErrorKind::Engine => "EngineError",
    };
    Error::examples().into_iter().map(|error| (error.code(), class(error.kind()), error.to_string())).collect()
}
