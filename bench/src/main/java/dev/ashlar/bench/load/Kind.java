package dev.ashlar.bench.load;

import java.util.Locale;

/** What one request does, and under which name the server counts it. */
public enum Kind {
  /** Bytes of a prepared object, or all of it. */
  READ("GET", "GetObject"),
  /** A new object each time. */
  WRITE("PUT", "PutObject"),
  /** A prepared object anew. */
  REPLACE("PUT", "PutObject"),
  /** Bytes of a prepared object, in place. */
  PATCH("PATCH", "PatchObject"),
  /** At the end of an object that belongs to the connection. */
  APPEND("PUT", "AppendObject"),
  /** A page of keys of prepared objects. */
  LIST("GET", "ListObjectsV2"),
  /** The head of a prepared object. */
  STAT("HEAD", "HeadObject"),
  /** An object that the connection has written, or what is left when all is measured. */
  DELETE("DELETE", "DeleteObject");

  private final String method;
  private final String s3Operation;

  Kind(String method, String s3Operation) {
    this.method = method;
    this.s3Operation = s3Operation;
  }

  public String title() {
    return name().toLowerCase(Locale.ROOT);
  }

  String method() {
    return method;
  }

  String s3Operation() {
    return s3Operation;
  }

  boolean sendsBody() {
    return switch (this) {
      case READ, LIST, STAT, DELETE -> false;
      case WRITE, REPLACE, PATCH, APPEND -> true;
    };
  }

  /** Whether the request says which storage class its object gets. */
  boolean picksStorageClass() {
    return switch (this) {
      case WRITE, REPLACE, APPEND -> true;
      case READ, PATCH, LIST, STAT, DELETE -> false;
    };
  }
}
