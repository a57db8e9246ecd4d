package dev.ashlar.gateway.access;

/**
 * Decides whether a caller may do what a request needs. It knows one rule: the owner of a bucket
 * may do everything with the bucket and its objects, and other callers may do nothing.
 */
final class Decider {
  /** Decides on what has no owner yet: every caller may list its own buckets and create one. */
  boolean allows(Caller caller, Need need) {
    return switch (need.resource()) {
      case Resource.Service service -> true;
      case Resource.NewBucket created -> true;
      case Resource.Bucket bucket -> false;
      case Resource.Key key -> false;
      case Resource.StoredObject object -> false;
    };
  }

  /**
   * @param owner of the bucket or the object
   */
  boolean allows(Caller caller, Need need, String owner) {
    return caller.canonicalId().equals(owner);
  }
}
