package dev.ashlar.protocol.trace;

import org.jspecify.annotations.Nullable;

/** Begins spans. Where nothing is traced, there is none. */
public interface Tracer {
  /** Where the work of a span comes from. */
  enum Kind {
    /** From another process: its span is the parent. */
    SERVER,
    /** It is waiting for the answer of another process. */
    CLIENT,
    INTERNAL
  }

  /**
   * Begins a span. It is kept if its parent is sampled; one without a parent begins a trace, which
   * is sampled by chance.
   *
   * @param name one of few values
   * @param parent null: a new trace begins
   */
  Span begin(String name, Kind kind, @Nullable TraceContext parent);
}
