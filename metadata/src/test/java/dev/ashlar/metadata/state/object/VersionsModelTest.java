package dev.ashlar.metadata.state.object;

import static dev.ashlar.metadata.state.object.VersionCommands.BUCKET;
import static dev.ashlar.metadata.state.object.VersionCommands.NULL;
import static dev.ashlar.metadata.state.object.VersionCommands.ref;
import static dev.ashlar.metadata.state.object.VersionCommands.tags;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.state.SeededRuns;
import dev.ashlar.protocol.client.ListQuery;
import dev.ashlar.protocol.client.VersionRead;
import dev.ashlar.protocol.client.VersionsPage;
import dev.ashlar.protocol.client.VersionsQuery;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CopyObject;
import dev.ashlar.protocol.message.DeleteResult;
import dev.ashlar.protocol.message.ObjectAttributes;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.UsageRow;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.protocol.message.Versioning;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Random commands on the versions of a few keys and on lists of versions, with restarts in between.
 * See {@link SeededRuns}.
 */
class VersionsModelTest {
  private static final List<String> KEYS = List.of("a", "a/1", "a/2", "b\u0000", "b\u0000c", "d");
  private static final int COMMANDS = 200;
  private static final int MARKER = -1;

  /** A version of a key; the newest one is the first of its list. */
  private static final class Version {
    final VersionRef id;
    final long position;
    final long size;
    ObjectFacts facts;

    Version(boolean hasId, long position, long size, ObjectFacts facts) {
      this.id = hasId ? ref(position) : NULL;
      this.position = position;
      this.size = size;
      this.facts = facts;
    }

    boolean isMarker() {
      return size == MARKER;
    }
  }

  private final Map<String, List<Version>> keys = new TreeMap<>();
  private VersionCommands it = new VersionCommands();
  private Random random = new Random();
  private Versioning versioning = Versioning.VERSIONING_OFF;

  @Test
  void randomCommandsDoWhatTheyDoToLists() {
    SeededRuns.repeat(40, this::run);
  }

  private void run(long seed) throws Exception {
    random = new Random(seed);
    it = VersionCommands.withBucket();
    versioning = Versioning.VERSIONING_OFF;
    keys.clear();
    KEYS.forEach(key -> keys.put(key, new ArrayList<>()));
    for (int i = 0; i < COMMANDS; i++) {
      step();
      if (i % 10 == 0) {
        check();
      }
    }
    check();
    deleteEverything();
  }

  private void step() throws Exception {
    String key = KEYS.get(random.nextInt(KEYS.size()));
    switch (random.nextInt(12)) {
      case 0, 1, 2, 3 -> put(key);
      case 4, 5 -> delete(key);
      case 6, 7 -> deleteVersion(key);
      case 8 -> tag(key);
      case 9 -> copy(key, KEYS.get(random.nextInt(KEYS.size())));
      case 10 -> it.restart();
      default -> {
        if (random.nextInt(3) == 0) {
          versioning =
              random.nextBoolean()
                  ? Versioning.VERSIONING_ENABLED
                  : Versioning.VERSIONING_SUSPENDED;
          assertEquals(ResultCode.OK, it.versioning(versioning));
        }
      }
    }
  }

  private void put(String key) throws Exception {
    long size = 1 + random.nextLong(1000);
    ObjectFacts facts = random.nextBoolean() ? tags("t" + size) : ObjectFacts.getDefaultInstance();
    PutObject.Builder object = it.object(key, size).setFacts(facts);
    if (random.nextInt(3) == 0) {
      object.setAttributes(
          ObjectAttributes.newBuilder().putUserMetadata("n", String.valueOf(size).repeat(150)));
    }
    replace(key, it.put(object), size, facts);
  }

  private void replace(String key, CommandResult result, long size, ObjectFacts facts) {
    boolean hasId = versioning == Versioning.VERSIONING_ENABLED;
    assertEquals(hasId, result.getVersioned());
    onTop(key, new Version(hasId, result.getVersion(), size, facts));
  }

  private void onTop(String key, Version version) {
    List<Version> versions = versions(key);
    if (version.id.equals(NULL)) {
      versions.removeIf(other -> other.id.equals(NULL));
    }
    versions.addFirst(version);
  }

  private List<Version> versions(String key) {
    return keys.getOrDefault(key, List.of());
  }

  private void delete(String key) throws Exception {
    DeleteResult result = it.delete(key);
    assertEquals(present(key) != null, result.getFound());
    if (versioning == Versioning.VERSIONING_OFF) {
      versions(key).clear();
    } else {
      assertEquals(versioning == Versioning.VERSIONING_ENABLED, result.getVersioned());
      onTop(
          key,
          new Version(
              result.getVersioned(),
              result.getVersion(),
              MARKER,
              ObjectFacts.getDefaultInstance()));
    }
  }

  private @Nullable Version present(String key) {
    List<Version> versions = versions(key);
    return versions.isEmpty() || versions.getFirst().isMarker() ? null : versions.getFirst();
  }

  private void deleteVersion(String key) throws Exception {
    List<Version> versions = versions(key);
    if (versions.isEmpty()) {
      assertEquals(DeleteResult.getDefaultInstance(), it.delete(key, NULL));
      return;
    }
    Version version = versions.get(random.nextInt(versions.size()));
    DeleteResult result = it.delete(key, version.id);
    assertTrue(result.getFound());
    assertEquals(version.isMarker(), result.getDeleteMarker());
    versions.remove(version);
    assertEquals(DeleteResult.getDefaultInstance(), it.delete(key, version.id));
  }

  private void tag(String key) throws Exception {
    List<Version> versions = versions(key);
    if (versions.isEmpty()) {
      return;
    }
    Version version = versions.get(random.nextInt(versions.size()));
    ObjectFacts facts =
        random.nextBoolean() ? tags("x" + random.nextInt(9)) : ObjectFacts.getDefaultInstance();
    assertEquals(
        version.isMarker() ? ResultCode.IS_DELETE_MARKER : ResultCode.OK,
        it.set(it.facts(key, version.id).setTags(facts)));
    if (!version.isMarker()) {
      version.facts = facts;
    }
  }

  private void copy(String from, String to) throws Exception {
    List<Version> sources = versions(from).stream().filter(v -> !v.isMarker()).toList();
    if (sources.isEmpty()) {
      return;
    }
    Version source = sources.get(random.nextInt(sources.size()));
    CopyObject.Builder copy =
        CopyObject.newBuilder()
            .setSourceBucket(BUCKET)
            .setSourceKey(from)
            .setSourceVersion(source.position)
            .setBucket(BUCKET)
            .setKey(to);
    replace(
        to,
        it.accepted(Command.newBuilder().setCopyObject(copy)),
        source.size,
        ObjectFacts.getDefaultInstance());
  }

  private void check() throws Exception {
    for (String key : KEYS) {
      List<Version> versions = versions(key);
      assertEquals(versions.isEmpty() ? -2 : versions.getFirst().size, it.size(key, null));
      assertEquals(present(key) != null, it.metadata().object(BUCKET, key).isPresent());
      for (Version version : versions) {
        assertEquals(version.size, it.size(key, version.id));
        if (it.metadata().version(BUCKET, key, version.id) instanceof VersionRead.Content content) {
          check(version, content.read().object());
        }
      }
    }
    assertEquals(
        KEYS.stream().filter(key -> present(key) != null).toList(),
        it.metadata().list(new ListQuery(BUCKET, "", "", "", 1000)).entries().stream()
            .map(entry -> entry.name())
            .toList());
    assertEquals(expectedListing(), listing(1 + random.nextInt(5)));
    checkUsage();
    checkGroups();
  }

  private void checkUsage() throws Exception {
    long objects = 0;
    long bytes = 0;
    for (List<Version> versions : keys.values()) {
      objects += versions.size();
      bytes += versions.stream().filter(v -> !v.isMarker()).mapToLong(v -> v.size).sum();
    }
    UsageRow bucket = it.metadata().bucketUsage(BUCKET).orElseThrow();
    UsageRow account = it.metadata().accountUsage("me").orElse(UsageRow.getDefaultInstance());
    for (UsageRow usage : List.of(bucket, account)) {
      assertEquals(objects, usage.getObjects());
      assertEquals(bytes, usage.getBytes());
    }
  }

  private static void check(Version version, ObjectRecord object) {
    assertEquals(version.position, object.getVersion());
    assertEquals(version.facts, object.getFacts());
    object
        .getAttributes()
        .getUserMetadataMap()
        .forEach((name, text) -> assertEquals(String.valueOf(version.size).repeat(150), text));
    assertEquals(
        version.size, object.getSlicesList().stream().mapToLong(slice -> slice.getLength()).sum());
  }

  private List<String> expectedListing() {
    List<String> all = new ArrayList<>();
    for (String key : KEYS) {
      for (Version version : versions(key)) {
        boolean isLatest = version == versions(key).getFirst();
        all.add(key + " " + version.id.getNumber() + " " + version.isMarker() + " " + isLatest);
      }
    }
    return all;
  }

  /** Page by page. */
  private List<String> listing(int max) throws Exception {
    List<String> all = new ArrayList<>();
    String key = "";
    VersionRef marker = null;
    while (true) {
      VersionsPage page = it.page(key, marker, max);
      for (VersionEntry entry : page.entries()) {
        VersionRef id = VersionCommands.id(entry);
        all.add(
            entry.getName()
                + " "
                + id.getNumber()
                + " "
                + entry.getDeleteMarker()
                + " "
                + entry.getLatest());
        key = entry.getName();
        marker = id;
      }
      if (!page.truncated()) {
        return all;
      }
    }
  }

  private void checkGroups() throws Exception {
    boolean hasGroup = !versions("a/1").isEmpty() || !versions("a/2").isEmpty();
    List<VersionEntry> entries =
        it.metadata().versions(new VersionsQuery(BUCKET, "a", "/", "", null, 1000)).entries();
    assertEquals(versions("a").size() + (hasGroup ? 1 : 0), entries.size());
    if (hasGroup) {
      assertEquals(VersionEntry.newBuilder().setName("a/").build(), entries.getLast());
    }
  }

  private void deleteEverything() throws Exception {
    for (String key : KEYS) {
      for (Version version : List.copyOf(versions(key))) {
        assertTrue(it.delete(key, version.id).getFound());
      }
    }
    assertEquals(0, it.rows());
    it.metadata()
        .table()
        .forEach(
            dev.ashlar.metadata.table.Keys.table('P'),
            (key, value) -> assertEquals(0, references(value)));
  }

  private static long references(byte[] row) {
    return dev.ashlar.metadata.table.Table.parse(row, dev.ashlar.protocol.message.BlobRow.parser())
        .getReferences();
  }
}
