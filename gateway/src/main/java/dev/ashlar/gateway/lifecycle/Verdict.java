package dev.ashlar.gateway.lifecycle;

/** What is to be done with a version now. */
public sealed interface Verdict {
  Verdict KEEP = new Keep();
  Verdict EXPIRE = new Expire();
  Verdict LOCKED = new Locked();

  /** Nothing. */
  record Keep() implements Verdict {}

  /** A present version is deleted; where versions are kept, a delete marker is put on top of it. */
  record Expire() implements Verdict {}

  /**
   * The version is deleted for good.
   *
   * @param newerKept how many versions have to be between it and the newest one
   */
  record Delete(int newerKept) implements Verdict {}

  /** It would be deleted for good, but its lock does not permit that. */
  record Locked() implements Verdict {}

  /**
   * It is moved.
   *
   * @param storageClass the name of another class than it has
   */
  record Move(String storageClass) implements Verdict {}
}
