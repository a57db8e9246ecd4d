package dev.ashlar.gateway.notification;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.message.EventRow;
import dev.ashlar.protocol.message.EventRow.Kind;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Stream;

/** What happens to objects, as S3 names it. */
public enum EventName {
  PUT("ObjectCreated:Put", Kind.CREATED_BY_PUT, Kind.CHANGED),
  POST("ObjectCreated:Post", Kind.CREATED_BY_PUT),
  COPY("ObjectCreated:Copy", Kind.CREATED_BY_COPY, Kind.CREATED_BY_RENAME),
  COMPLETE_UPLOAD("ObjectCreated:CompleteMultipartUpload", Kind.CREATED_BY_UPLOAD),
  DELETE("ObjectRemoved:Delete", Kind.DELETED),
  MARK_DELETED("ObjectRemoved:DeleteMarkerCreated", Kind.MARKED_DELETED),
  TAG("ObjectTagging:Put", Kind.TAGGED),
  UNTAG("ObjectTagging:Delete", Kind.UNTAGGED),
  PUT_ACL("ObjectAcl:Put", Kind.ACL_PUT),
  EXPIRE("LifecycleExpiration:Delete", Kind.DELETED),
  MARK_EXPIRED("LifecycleExpiration:DeleteMarkerCreated", Kind.MARKED_DELETED);

  /** The principal of commands that carry out lifecycle rules, as S3 names it. */
  public static final String LIFECYCLE = "s3.amazonaws.com";

  private static final String PREFIX = "s3:";

  /** Events of S3 that never happen here. */
  private static final Set<String> ABSENT_FAMILIES =
      Set.of(
          "ReducedRedundancyLostObject",
          "ObjectRestore",
          "Replication",
          "LifecycleTransition",
          "IntelligentTiering",
          "ObjectAnnotation");

  private final String text;
  private final int kinds;

  EventName(String text, Kind... kinds) {
    this.text = text;
    this.kinds = Stream.of(kinds).mapToInt(kind -> 1 << kind.getNumber()).sum();
  }

  /** As events have it, such as {@code ObjectCreated:Put}. */
  public String text() {
    return text;
  }

  /** The kinds of rows that may be such events: bit n for kind n. */
  int kinds() {
    return kinds;
  }

  /** The name of an event. */
  public static EventName of(EventRow event) {
    boolean isLifecycle = event.getOrigin().getPrincipal().equals(LIFECYCLE);
    return switch (event.getKind()) {
      case CREATED_BY_PUT -> event.getOrigin().getForm() ? POST : PUT;
      case CREATED_BY_COPY, CREATED_BY_RENAME -> COPY;
      case CREATED_BY_UPLOAD -> COMPLETE_UPLOAD;
      case DELETED -> isLifecycle ? EXPIRE : DELETE;
      case MARKED_DELETED -> isLifecycle ? MARK_EXPIRED : MARK_DELETED;
      case TAGGED -> TAG;
      case UNTAGGED -> UNTAG;
      case ACL_PUT -> PUT_ACL;
      // What a later build may add is a change, too.
      case CHANGED, UNRECOGNIZED -> PUT;
    };
  }

  /**
   * What a configuration names: one event, or all of a family.
   *
   * @param name such as {@code s3:ObjectCreated:*}
   * @throws S3Exception InvalidArgument; NotImplemented for events of S3 that never happen here
   */
  static Set<EventName> named(String name) throws S3Exception {
    Set<EventName> named = EnumSet.noneOf(EventName.class);
    for (EventName event : values()) {
      String family = event.text.substring(0, event.text.indexOf(':') + 1);
      boolean isFamily = name.equals(PREFIX + family + "*") && event != PUT_ACL;
      if (isFamily || name.equals(PREFIX + event.text)) {
        named.add(event);
      }
    }
    if (named.isEmpty()) {
      throw unknown(name);
    }
    return named;
  }

  private static S3Exception unknown(String name) {
    if (name.startsWith(PREFIX)) {
      int end = name.indexOf(':', PREFIX.length());
      String family = name.substring(PREFIX.length(), end < 0 ? name.length() : end);
      if (ABSENT_FAMILIES.contains(family)) {
        return new S3Exception(
            S3Error.NOT_IMPLEMENTED,
            "Notifications of " + PREFIX + family + " are not implemented.");
      }
    }
    return S3Exception.invalidArgument(
        "The event is not supported for notifications", "Event", name);
  }
}
