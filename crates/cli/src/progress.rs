//! A bar on standard error that says how far a measurement has come.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar that is shown if somebody can see it; indicatif hides it where standard error is no terminal.
pub(crate) fn bar(is_wanted: bool) -> ProgressBar {
    let target = if is_wanted { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template("{bar:32.cyan/dim} {percent:>3}%  {elapsed} gone  {msg:.dim}")
        .expect("the template is well-formed")
        .progress_chars("━╸─");
    ProgressBar::with_draw_target(None, target).with_style(style)
}
