package dev.ashlar.protocol.trace;

/**
 * A piece of work of a trace. One that is not sampled, or is of another process, has nothing but
 * its context: what is told to it is dropped. Used by one thread at a time.
 */
@FunctionalInterface
public interface Span {
  /** What its children and other processes know it by. */
  TraceContext context();

  /** Whether what is told to it is kept. */
  default boolean isKept() {
    return false;
  }

  /**
   * Asks for the place of one more child among the spans that are kept. A request of very many
   * calls must not push the spans of other requests out.
   *
   * @return false: the trace does not show the child
   */
  default boolean takesChild() {
    return context().isSampled();
  }

  /** Gives it another name. */
  default void name(String name) {}

  /** Adds an attribute, under a name that it does not have yet. */
  default void add(String name, String value) {}

  /** Adds an attribute, under a name that it does not have yet. */
  default void add(String name, long value) {}

  /**
   * The work has failed.
   *
   * @param type of the failure: one of few values, nothing that a client has sent
   */
  default void failed(String type) {}

  /** The work has ended; nothing may be told to it any more. */
  default void end() {}
}
