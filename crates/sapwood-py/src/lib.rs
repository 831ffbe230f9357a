//! Python bindings of the engine: arrays in, arrays out. No mathematics.

mod config;
mod errors;
mod guarded;
mod model;
mod results;

// Free-threaded interpreters cannot load this module, which uses the stable ABI, and none is among those it is tested with.
#[pyo3::pymodule(gil_used = true)]
mod _core {
    #[pymodule_export]
    use super::config::{MemberConfig, option_names};
    #[pymodule_export]
    use super::errors::{ConfigError, EngineError, InputError, ModelFileError, error_catalogue};
    #[pymodule_export]
    use super::model::{Model, Predictive, n_scores};
    #[pymodule_export]
    use super::results::{ActivePool, Forecast, TreeDump, TreeStats};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
