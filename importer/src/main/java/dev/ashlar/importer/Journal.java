package dev.ashlar.importer;

/** Is told what an operator has to know. For many threads. */
public interface Journal {
  /**
   * Something is not as at the source.
   *
   * @param what a bucket, or a bucket and a key
   */
  void failed(String what, String why);

  /** Something is worth knowing. */
  void note(String what);
}
