package dev.ashlar.gateway.access;

import java.util.List;
import java.util.stream.Stream;

/**
 * The documents of a bucket that are known with each decision about access. The numbers are a
 * format: never reuse one. Those from 8 on are of other documents.
 */
public enum AccessDocument {
  /** A BucketPolicyDocument. */
  POLICY(0),

  /** An AclDocument. */
  ACL(1),

  /** An OwnershipDocument. */
  OWNERSHIP(2),

  /** A PublicAccessBlockDocument. */
  PUBLIC_ACCESS_BLOCK(3),

  /** Only there if the requester pays; its bytes mean nothing. */
  REQUESTER_PAYS(4),

  /** A BucketLoggingDocument. */
  LOGGING(5),

  /** A BucketEncryptionDocument. */
  ENCRYPTION(6);

  static final List<Integer> NUMBERS = Stream.of(values()).map(AccessDocument::number).toList();

  private final int number;

  AccessDocument(int number) {
    this.number = number;
  }

  /** The kind of the document for metadata. */
  public int number() {
    return number;
  }
}
