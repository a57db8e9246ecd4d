package dev.ashlar.it.linear;

import dev.ashlar.it.linear.VersionCall.Delete;
import dev.ashlar.it.linear.VersionCall.DeleteVersion;
import dev.ashlar.it.linear.VersionCall.Get;
import dev.ashlar.it.linear.VersionCall.GetVersion;
import dev.ashlar.it.linear.VersionCall.ListVersions;
import dev.ashlar.it.linear.VersionCall.Put;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One key of a bucket with versioning. Ids ascend as versions are made. */
final class VersionedKeyModel
    implements SequentialModel<VersionedKeyModel.Versions, VersionCall, VersionReply> {
  /** Of a version whose maker had no answer: any id, until somebody has seen it. */
  private static final String UNKNOWN = "?";

  /** Of a delete marker, in the place of the hash of a body. */
  private static final String MARKER = "marker";

  /**
   * A version.
   *
   * @param body its hash
   */
  record Version(String id, String body) {
    boolean isMarker() {
      return body.equals(MARKER);
    }
  }

  /**
   * What there is.
   *
   * @param last the greatest id that was seen, also of a version that was deleted
   * @param all newest first
   */
  record Versions(String last, List<Version> all) {
    static final Versions NONE = new Versions("", List.of());

    Versions with(Version version) {
      List<Version> next = new ArrayList<>(all);
      next.addFirst(version);
      return new Versions(version.id().equals(UNKNOWN) ? last : version.id(), List.copyOf(next));
    }

    Versions without(int index) {
      List<Version> next = new ArrayList<>(all);
      next.remove(index);
      return new Versions(last, List.copyOf(next));
    }

    /** The same, in which a version is known to have this id. */
    Optional<Versions> seen(int index, String id) {
      Version version = all.get(index);
      if (version.id().equals(id)) {
        return Optional.of(this);
      }
      boolean isPossible =
          version.id().equals(UNKNOWN)
              && all.stream().noneMatch(other -> other.id().equals(id))
              && all.subList(index + 1, all.size()).stream()
                  .noneMatch(older -> isAfter(older.id(), id));
      if (!isPossible) {
        return Optional.empty();
      }
      List<Version> next = new ArrayList<>(all);
      next.set(index, new Version(id, version.body()));
      return Optional.of(new Versions(isAfter(id, last) ? id : last, List.copyOf(next)));
    }

    int indexOf(String id) {
      return all.stream().map(Version::id).toList().indexOf(id);
    }

    static boolean isAfter(String id, String other) {
      return !id.equals(UNKNOWN) && id.compareTo(other) > 0;
    }
  }

  @Override
  public Versions initial() {
    return Versions.NONE;
  }

  @Override
  public Optional<Versions> after(Versions state, VersionCall call, @Nullable VersionReply reply) {
    return switch (call) {
      case Put put -> made(state, put.sha256(), reply);
      case Delete delete -> made(state, MARKER, reply);
      case DeleteVersion delete -> deleted(state, delete.id(), reply);
      case Get get -> reply == null ? Optional.of(state) : read(state, reply);
      case GetVersion get ->
          reply == null ? Optional.of(state) : readVersion(state, get.id(), reply);
      case ListVersions list -> reply == null ? Optional.of(state) : listed(state, reply);
    };
  }

  private static Optional<Versions> made(
      Versions state, String body, @Nullable VersionReply reply) {
    if (reply == null) {
      return Optional.of(state.with(new Version(UNKNOWN, body)));
    }
    boolean isMarker = body.equals(MARKER);
    boolean isRight =
        reply.what().equals(isMarker ? "204" : "200")
            && reply.isMarker() == isMarker
            && Versions.isAfter(reply.id(), state.last());
    return isRight ? Optional.of(state.with(new Version(reply.id(), body))) : Optional.empty();
  }

  private static Optional<Versions> deleted(
      Versions state, String id, @Nullable VersionReply reply) {
    int index = state.indexOf(id);
    boolean isMarker = index >= 0 && state.all().get(index).isMarker();
    if (reply != null && (!reply.what().equals("204") || reply.isMarker() != isMarker)) {
      return Optional.empty();
    }
    return Optional.of(index < 0 ? state : state.without(index));
  }

  private static Optional<Versions> read(Versions state, VersionReply reply) {
    if (state.all().isEmpty()) {
      boolean isRight = reply.what().equals("404 NoSuchKey") && reply.id().isEmpty();
      return isRight ? Optional.of(state) : Optional.empty();
    }
    Version newest = state.all().getFirst();
    boolean isRight =
        newest.isMarker()
            ? reply.what().equals("404 NoSuchKey") && reply.isMarker()
            : reply.what().equals("200") && reply.sha256().equals(newest.body());
    return isRight ? state.seen(0, reply.id()) : Optional.empty();
  }

  private static Optional<Versions> readVersion(Versions state, String id, VersionReply reply) {
    int index = state.indexOf(id);
    if (index < 0) {
      return reply.what().equals("404 NoSuchVersion") ? Optional.of(state) : Optional.empty();
    }
    Version version = state.all().get(index);
    boolean isRight =
        version.isMarker()
            ? reply.what().equals("405 MethodNotAllowed")
            : reply.what().equals("200") && reply.sha256().equals(version.body());
    return isRight ? Optional.of(state) : Optional.empty();
  }

  private static Optional<Versions> listed(Versions state, VersionReply reply) {
    if (!reply.what().equals("200") || reply.listed().size() != state.all().size()) {
      return Optional.empty();
    }
    Optional<Versions> next = Optional.of(state);
    for (int i = 0; i < state.all().size() && next.isPresent(); i++) {
      next = next.get().seen(i, reply.listed().get(i));
    }
    return next;
  }
}
