package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.uri.Percent;
import dev.ashlar.protocol.fault.SimulationRuns;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Random requests about versions, compared with a map from keys to lists of versions. {@code
 * -Dashlar.versions.seed=N} replays one run, {@code -Dashlar.versions.runs=N} makes more.
 */
class VersionsModelTest {
  private static final List<String> KEYS = List.of("a", "a/1", "a/2", "b", "b c/d", "é");
  private static final int REQUESTS = 120;
  private static final String NULL = "null";
  private static final String ID = "x-amz-version-id";

  /**
   * A version of a key.
   *
   * @param body null for a delete marker
   */
  private record Version(String id, @Nullable String body) {}

  /** Versioning of the bucket; its name is what S3 calls it. */
  private enum State {
    OFF,
    ENABLED,
    SUSPENDED
  }

  /** One run; the newest version of a key is the first of its list. */
  private static final class Run {
    private final TestS3 s3 = new TestS3();
    private final Map<String, List<Version>> keys = new TreeMap<>();
    private final List<String> usedIds = new ArrayList<>(List.of(NULL, "00000000000abcde"));
    private final Random random;
    private State state = State.OFF;
    private int bodies;

    Run(long seed) {
      random = new Random(seed);
      KEYS.forEach(key -> keys.put(key, new ArrayList<>()));
    }

    void run() throws Exception {
      s3.ok(200, "PUT", "/bkt");
      for (int i = 0; i < REQUESTS; i++) {
        step();
        if (i % 8 == 0) {
          check();
        }
      }
      check();
      empty();
    }

    private void step() throws Exception {
      String key = any(KEYS);
      switch (random.nextInt(14)) {
        case 0, 1, 2, 3 -> put(key);
        case 4, 5 -> delete(key);
        case 6, 7 -> deleteVersion(key);
        case 8 -> deleteMany();
        case 9 -> copy(any(KEYS), key);
        case 10 -> upload(key);
        case 11 -> putIf(key);
        case 12 -> append(key);
        default -> set(random.nextInt(3) == 0 ? State.SUSPENDED : State.ENABLED);
      }
    }

    private <T> T any(List<T> of) {
      return of.get(random.nextInt(of.size()));
    }

    private List<Version> versions(String key) {
      return Objects.requireNonNull(keys.get(key));
    }

    private @Nullable Version newest(String key) {
      return versions(key).isEmpty() ? null : versions(key).getFirst();
    }

    private @Nullable Version find(String key, String id) {
      return versions(key).stream().filter(it -> it.id.equals(id)).findAny().orElse(null);
    }

    private boolean isPresent(String key) {
      Version newest = newest(key);
      return newest != null && newest.body != null;
    }

    private static String path(String key) {
      return "/bkt/" + Percent.encode(key);
    }

    private void set(State wanted) throws Exception {
      String status = wanted == State.ENABLED ? "Enabled" : "Suspended";
      s3.ok(
          200,
          TestS3.request("PUT", "/bkt?versioning")
              .body(
                  "<VersioningConfiguration><Status>"
                      + status
                      + "</Status></VersioningConfiguration>"));
      state = wanted;
    }

    // ---- Writes ----

    private void put(String key) throws Exception {
      String body = "body " + bodies++;
      written(key, body, s3.ok(200, TestS3.request("PUT", path(key)).body(body)));
    }

    private void putIf(String key) throws Exception {
      String body = "body " + bodies++;
      TestAnswer answer =
          s3.send(TestS3.request("PUT", path(key)).body(body).header("If-None-Match", "*"));
      assertEquals(isPresent(key) ? "PreconditionFailed" : "", answer.code());
      if (answer.code().isEmpty()) {
        written(key, body, answer);
      }
    }

    private void append(String key) throws Exception {
      if (state != State.OFF) {
        s3.refused(
            "InvalidBucketState",
            TestS3.request("PUT", path(key) + "?append&position=0").body("more"));
      }
    }

    private void copy(String from, String to) throws Exception {
      String id = random.nextBoolean() || versions(from).isEmpty() ? "" : any(ids(from));
      Version source = id.isEmpty() ? newest(from) : find(from, id);
      TestRequest request =
          TestS3.request("PUT", path(to))
              .header("x-amz-copy-source", path(from) + (id.isEmpty() ? "" : "?versionId=" + id));
      if (id.isEmpty() && from.equals(to)) {
        s3.refused("InvalidRequest", request);
      } else if (source == null || source.body == null) {
        s3.refused(id.isEmpty() ? "NoSuchKey" : "InvalidRequest", request);
      } else {
        TestAnswer answer = s3.ok(200, request);
        assertEquals(
            state == State.OFF ? "" : source.id, answer.header("x-amz-copy-source-version-id"));
        written(to, source.body, answer);
      }
    }

    private void upload(String key) throws Exception {
      String body = "body " + bodies++;
      String upload = s3.ok(200, "POST", path(key) + "?uploads").element("UploadId");
      String etag =
          s3.ok(
                  200,
                  TestS3.request("PUT", path(key) + "?partNumber=1&uploadId=" + upload).body(body))
              .header("ETag");
      TestRequest complete = TestS3.request("POST", path(key) + "?uploadId=" + upload);
      written(
          key,
          body,
          s3.ok(
              200,
              complete.body(
                  "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"
                      + etag
                      + "</ETag></Part></CompleteMultipartUpload>")));
    }

    private void written(String key, String body, TestAnswer answer) {
      String id = answer.header(ID);
      assertEquals(state == State.ENABLED, !id.isEmpty());
      onTop(key, new Version(id.isEmpty() ? NULL : id, body));
    }

    private void onTop(String key, Version version) {
      if (version.id.equals(NULL)) {
        versions(key).removeIf(it -> it.id.equals(NULL));
      } else {
        // Keys that are deleted by one request may share an id.
        assertTrue(find(key, version.id) == null, version.id);
        usedIds.add(version.id);
      }
      versions(key).addFirst(version);
    }

    // ---- Deletions ----

    private void delete(String key) throws Exception {
      TestAnswer answer = s3.ok(204, "DELETE", path(key));
      assertEquals(state == State.OFF ? "" : "true", answer.header("x-amz-delete-marker"));
      marked(key, answer.header(ID));
    }

    /**
     * @param id of the marker; empty if none was made
     */
    private void marked(String key, String id) {
      assertEquals(state == State.OFF, id.isEmpty());
      assertEquals(state == State.SUSPENDED, id.equals(NULL));
      if (id.isEmpty()) {
        versions(key).clear();
      } else {
        onTop(key, new Version(id, null));
      }
    }

    private void deleteVersion(String key) throws Exception {
      String id = versions(key).isEmpty() || random.nextInt(4) == 0 ? any(usedIds) : any(ids(key));
      TestAnswer answer = s3.ok(204, "DELETE", path(key) + "?versionId=" + id);
      Version version = find(key, id);
      boolean isMarker = version != null && version.body == null;
      assertEquals(isMarker ? "true" : "", answer.header("x-amz-delete-marker"));
      assertEquals(id, answer.header(ID));
      versions(key).remove(version);
    }

    private List<String> ids(String key) {
      return versions(key).stream().map(Version::id).toList();
    }

    private void deleteMany() throws Exception {
      StringBuilder objects = new StringBuilder();
      List<String> named = new ArrayList<>();
      List<String> plain = new ArrayList<>();
      for (String key : KEYS) {
        switch (random.nextInt(3)) {
          case 0 -> {
            String id = versions(key).isEmpty() ? any(usedIds) : any(ids(key));
            objects.append(object(key, "<VersionId>" + id + "</VersionId>"));
            named.add(id);
            versions(key).remove(find(key, id));
          }
          case 1 -> {
            objects.append(object(key, ""));
            plain.add(key);
          }
          default -> {
            // This key is left alone.
          }
        }
      }
      if (objects.isEmpty()) {
        return;
      }
      TestAnswer answer =
          s3.ok(
              200,
              TestS3.request("POST", "/bkt?delete")
                  .body("<Delete>" + objects + "</Delete>")
                  .header("Content-MD5", "checked by the authenticator"));
      List<String> deleted = new ArrayList<>();
      for (var element : answer.xml().children()) {
        assertEquals("Deleted", element.name());
        String id = element.childText("VersionId");
        if (id != null) {
          deleted.add(id);
        } else {
          String marker = element.childText("DeleteMarkerVersionId");
          marked(element.required("Key"), marker == null ? "" : marker);
          plain.remove(element.required("Key"));
        }
      }
      assertEquals(named, deleted);
      assertEquals(List.of(), plain);
    }

    private static String object(String key, String rest) {
      return "<Object><Key>" + key + "</Key>" + rest + "</Object>";
    }

    // ---- Comparison ----

    private void check() throws Exception {
      for (String key : KEYS) {
        Version newest = newest(key);
        TestAnswer present = s3.send("GET", path(key));
        if (newest == null || newest.body == null) {
          assertEquals("NoSuchKey", present.code());
          assertEquals(newest == null ? "" : newest.id, present.header(ID));
        } else {
          assertEquals(newest.body, present.text());
          assertEquals(state == State.OFF ? "" : newest.id, present.header(ID));
        }
        for (String id : new TreeSet<>(usedIds)) {
          Version version = find(key, id);
          TestAnswer answer = s3.send("GET", path(key) + "?versionId=" + id);
          if (version == null) {
            assertEquals("NoSuchVersion", answer.code());
          } else if (version.body == null) {
            assertEquals("MethodNotAllowed", answer.code());
          } else {
            assertEquals(version.body, answer.text());
          }
        }
      }
      assertEquals(
          KEYS.stream().filter(this::isPresent).sorted().toList(),
          s3.ok(200, "GET", "/bkt").each("Contents", "Key"));
      checkListing("", "");
      checkListing(any(List.of("a", "a/", "b", "x")), "");
      checkListing(any(List.of("", "a", "b")), "/");
    }

    private void checkListing(String prefix, String delimiter) throws Exception {
      List<String> expected = new ArrayList<>();
      keys.forEach(
          (key, versions) -> {
            if (key.startsWith(prefix) && !versions.isEmpty()) {
              int end = delimiter.isEmpty() ? -1 : key.indexOf(delimiter, prefix.length());
              String common = end < 0 ? "" : key.substring(0, end + 1);
              if (common.isEmpty()) {
                for (int i = 0; i < versions.size(); i++) {
                  expected.add(row(key, versions.get(i), i == 0));
                }
              } else if (!expected.contains(common)) {
                expected.add(common);
              }
            }
          });
      int max = 1 + random.nextInt(8);
      List<String> listed = new ArrayList<>();
      String markers = "";
      while (true) {
        TestAnswer page =
            s3.ok(
                200,
                "GET",
                "/bkt?versions&prefix="
                    + prefix
                    + "&delimiter="
                    + delimiter
                    + "&max-keys="
                    + max
                    + markers);
        List<String> rows = rows(page);
        assertTrue(rows.size() <= max);
        listed.addAll(rows);
        if (page.element("IsTruncated").equals("false")) {
          break;
        }
        assertEquals(max, rows.size());
        String id = page.element("NextVersionIdMarker");
        markers =
            "&key-marker="
                + Percent.encode(page.element("NextKeyMarker"))
                + (id.equals("(absent)") ? "" : "&version-id-marker=" + id);
      }
      expected.sort(null);
      listed.sort(null);
      assertEquals(expected, listed);
    }

    private static String row(String key, Version version, boolean isLatest) {
      return key + " " + version.id + " " + isLatest + " " + (version.body == null);
    }

    /** The entries of a page; the versions of a key must be in the order of the model. */
    private List<String> rows(TestAnswer page) throws Exception {
      List<String> rows = new ArrayList<>();
      Map<String, Integer> places = new TreeMap<>();
      String last = "";
      for (var element : page.xml().children()) {
        boolean isMarker = element.name().equals("DeleteMarker");
        if (element.name().equals("CommonPrefixes")) {
          rows.add(element.required("Prefix"));
        } else if (isMarker || element.name().equals("Version")) {
          String key = element.required("Key");
          String id = element.required("VersionId");
          int place = ids(key).indexOf(id);
          assertTrue(place > places.getOrDefault(key, -1), () -> key + " " + id);
          assertTrue(last.compareTo(key) <= 0, key);
          places.put(key, place);
          last = key;
          rows.add(key + " " + id + " " + element.required("IsLatest") + " " + isMarker);
        }
      }
      return rows;
    }

    /** Deletes page by page, as clients do, and then the bucket. */
    private void empty() throws Exception {
      String markers = "";
      while (true) {
        TestAnswer page = s3.ok(200, "GET", "/bkt?versions&max-keys=5" + markers);
        for (var element : page.xml().children()) {
          if (element.child("VersionId") != null) {
            String uri =
                path(element.required("Key")) + "?versionId=" + element.required("VersionId");
            s3.ok(204, "DELETE", uri);
          }
        }
        if (page.element("IsTruncated").equals("false")) {
          break;
        }
        markers =
            "&key-marker="
                + Percent.encode(page.element("NextKeyMarker"))
                + "&version-id-marker="
                + page.element("NextVersionIdMarker");
      }
      s3.ok(204, "DELETE", "/bkt");
    }
  }

  @Test
  void randomRequestsDoWhatTheyDoToLists() {
    SimulationRuns.repeat("VersionsModelTest", "ashlar.versions", 30, seed -> new Run(seed).run());
  }
}
