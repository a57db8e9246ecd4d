package dev.ashlar.it.linear;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.it.linear.VersionCall.Delete;
import dev.ashlar.it.linear.VersionCall.DeleteVersion;
import dev.ashlar.it.linear.VersionCall.Get;
import dev.ashlar.it.linear.VersionCall.GetVersion;
import dev.ashlar.it.linear.VersionCall.ListVersions;
import dev.ashlar.it.linear.VersionCall.Put;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the model allows, and what it does not. */
class VersionedKeyModelTest {
  private static final Put A = Put.of(new byte[] {1});
  private static final Put B = Put.of(new byte[] {2});

  private final List<Operation<VersionCall, VersionReply>> history = new ArrayList<>();

  private VersionedKeyModelTest then(VersionCall call, @Nullable VersionReply reply) {
    history.add(new Operation<>(call, reply, 2L * history.size(), 2L * history.size() + 1));
    return this;
  }

  private void expect(boolean isLinearizable) {
    assertEquals(isLinearizable, Linearizability.isLinearizable(new VersionedKeyModel(), history));
    history.clear();
  }

  private static VersionReply reply(String what, String id) {
    return new VersionReply(what, id, false, "", List.of());
  }

  private static VersionReply marker(String what, String id) {
    return new VersionReply(what, id, true, "", List.of());
  }

  private static VersionReply read(String id, Put put) {
    return new VersionReply("200", id, false, put.sha256(), List.of());
  }

  private static VersionReply list(String... ids) {
    return new VersionReply("200", "", false, "", List.of(ids));
  }

  private VersionedKeyModelTest two() {
    return then(A, reply("200", "a")).then(B, reply("200", "b"));
  }

  @Test
  void aReadReturnsTheNewestVersion() {
    two().then(new Get(), read("b", B)).then(new GetVersion("a"), read("a", A)).expect(true);
    two().then(new Get(), read("a", A)).expect(false);
    two().then(new Get(), read("b", A)).expect(false);
    two().then(new GetVersion("a"), reply("404 NoSuchVersion", "")).expect(false);
  }

  @Test
  void aMarkerHidesWhatIsBelowUntilItIsDeleted() {
    two()
        .then(new Delete(), marker("204", "c"))
        .then(new Get(), marker("404 NoSuchKey", "c"))
        .then(new ListVersions(), list("c", "b", "a"))
        .then(new DeleteVersion("c"), marker("204", "c"))
        .then(new Get(), read("b", B))
        .expect(true);
    two().then(new Delete(), marker("204", "c")).then(new Get(), read("b", B)).expect(false);
    two().then(new ListVersions(), list("a", "b")).expect(false);
  }

  @Test
  void idsAscend() {
    then(B, reply("200", "b")).then(A, reply("200", "a")).expect(false);
    then(B, reply("200", "b"))
        .then(new DeleteVersion("b"), reply("204", "b"))
        .then(A, reply("200", "a"))
        .expect(false);
  }

  @Test
  void aWriteWithoutAnswerHappensOnceOrNever() {
    then(A, null).then(new Get(), reply("404 NoSuchKey", "")).expect(true);
    then(A, null).then(new Get(), read("a", A)).then(new ListVersions(), list("a")).expect(true);
    then(A, null).then(new ListVersions(), list("a", "b")).expect(false);
    then(A, null).then(new Get(), read("a", A)).then(new Get(), read("b", A)).expect(false);
  }
}
