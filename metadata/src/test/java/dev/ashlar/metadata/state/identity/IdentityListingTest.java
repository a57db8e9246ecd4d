package dev.ashlar.metadata.state.identity;

import static dev.ashlar.protocol.client.TestIdentities.ACCOUNT;
import static dev.ashlar.protocol.client.TestIdentities.document;
import static dev.ashlar.protocol.client.TestIdentities.group;
import static dev.ashlar.protocol.client.TestIdentities.policy;
import static dev.ashlar.protocol.client.TestIdentities.putChanged;
import static dev.ashlar.protocol.client.TestIdentities.putNew;
import static dev.ashlar.protocol.client.TestIdentities.role;
import static dev.ashlar.protocol.client.TestIdentities.user;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.client.IdentityPage;
import dev.ashlar.protocol.client.TestIdentities;
import dev.ashlar.protocol.message.IdentityAnswer;
import dev.ashlar.protocol.message.IdentityKind;
import dev.ashlar.protocol.message.IdentityListQuery;
import dev.ashlar.protocol.message.IdentityQuery;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.IdentityTag;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class IdentityListingTest extends IdentityFixture {
  private static IdentityListQuery.Builder users() {
    return IdentityListQuery.newBuilder()
        .setAccount(ACCOUNT)
        .setKind(IdentityKind.IDENTITY_USER)
        .setMax(100);
  }

  /** The names on all pages of this size. */
  private List<String> names(IdentityListQuery.Builder query, int max) throws Exception {
    List<String> names = new ArrayList<>();
    IdentityListQuery.Builder next = query.clone().setMax(max);
    while (true) {
      IdentityPage page = metadata.identities(next.build());
      page.identities().forEach(row -> names.add(row.getName()));
      if (!page.truncated()) {
        return names;
      }
      next.setAfter(page.identities().getLast());
    }
  }

  @Test
  void usersAreListedByNameAlsoBelowAPath() throws Exception {
    ok(putNew(user("b").setPath("/x/")));
    ok(putNew(user("A").setPath("/x/y/")));
    ok(putNew(user("c").setPath("/xy/")));
    ok(putNew(user("d")));
    ok(putNew(user("x")));
    ok(putNew(group("g").setPath("/x/")));
    for (int max = 1; max < 6; max++) {
      assertEquals(List.of("A", "b", "c", "d", "x"), names(users(), max));
      assertEquals(List.of("A", "b", "c", "d", "x"), names(users().setPathPrefix("/"), max));
      assertEquals(List.of("A", "b"), names(users().setPathPrefix("/x/"), max));
      assertEquals(List.of("A", "b", "c"), names(users().setPathPrefix("/x"), max));
      assertEquals(List.of(), names(users().setPathPrefix("/d"), max), "that is a name");
    }
    ok(putChanged(identity("AIDAB").setPath("/z/")));
    assertEquals(List.of("A"), names(users().setPathPrefix("/x/"), 9));
    assertEquals(List.of(), names(users().setAccount("999999999999"), 9));
    assertEquals(List.of(), names(users().setAccount(""), 9));
    assertEquals(List.of(), names(users().setKind(IdentityKind.IDENTITY_NONE), 9));
  }

  /** A marker that is no longer there marks its place. */
  @Test
  void aPageGoesOnBehindWhatWasDeleted() throws Exception {
    for (String name : List.of("a", "b", "c")) {
      ok(putNew(user(name).setPath("/x/")));
    }
    IdentityRow b = identity("AIDAB").build();
    ok(TestIdentities.deleteIdentity("AIDAB"));
    assertEquals(List.of("c"), names(users().setAfter(b), 9));
    assertEquals(List.of("c"), names(users().setAfter(b).setPathPrefix("/x/"), 9));
  }

  @Test
  void attachmentsAreListedByKind() throws Exception {
    ok(putNew(policy("p")));
    ok(putNew(policy("q")));
    for (String name : List.of("m", "n")) {
      ok(putNew(user(name).addAttachedPolicies("ANPAP")));
      ok(putNew(group(name).addAttachedPolicies("ANPAP")));
      ok(putNew(role(name).addAttachedPolicies("ANPAP")));
    }
    IdentityListQuery.Builder of = users().setAttachedTo("ANPAP");
    for (int max = 1; max < 8; max++) {
      assertEquals(List.of("m", "n"), names(of, max));
      IdentityListQuery.Builder all = of.clone().setKind(IdentityKind.IDENTITY_NONE);
      assertEquals(List.of("m", "n", "m", "n", "m", "n"), names(all, max));
    }
    assertEquals(List.of(), names(users().setAttachedTo("ANPAQ"), 9));
    assertEquals(List.of(), names(users().setMemberOf("AGPAM"), 9));
  }

  /** Wherever it begins, among thousands of others with large documents and tags. */
  @Test
  void aPageCostsWhatItHolds() throws Exception {
    for (int i = 0; i < 3000; i++) {
      String path = "/p" + i % 10 + "/";
      ok(
          putNew(
              user("u%04d".formatted(i))
                  .setPath(path)
                  .addDocuments(document("d").setText("x".repeat(2048)))));
    }
    CountingTable table = new CountingTable(metadata.table());
    IdentityListQuery.Builder query = users().setMax(10);
    assertEquals(10, list(table, query));
    assertEquals(10, list(table, query.setAfter(user("u2500"))));
    assertTrue(table.rowsRead < 2 * 25, () -> table.rowsRead + " rows for 2 pages");
    assertTrue(table.bytesRead < 2 * 25 * 256, () -> table.bytesRead + " bytes for 2 pages");
    query.setPathPrefix("/p7/");
    assertEquals(10, list(table, query.clearAfter()));
    assertEquals(10, list(table, query.setAfter(user("u2507").setPath("/p7/"))));
    // Below a path, the names below it besides.
    assertTrue(table.rowsRead < 4 * 25 + 2 * 300, () -> table.rowsRead + " rows for 4 pages");
  }

  private static int list(Table table, IdentityListQuery.Builder query) {
    IdentityAnswer answer =
        IdentityReads.answer(table, IdentityQuery.newBuilder().setIdentities(query).build());
    assertTrue(answer.getTruncated());
    return answer.getIdentitiesCount();
  }

  @Test
  void aPageOfLargeRowsEndsEarly() throws Exception {
    for (int i = 0; i < 60; i++) {
      IdentityRow.Builder user = user("u%02d".formatted(i));
      for (int tag = 0; tag < 50; tag++) {
        user.addTags(IdentityTag.newBuilder().setKey("k" + tag).setValue("v".repeat(256)));
      }
      ok(putNew(user));
    }
    IdentityPage page = metadata.identities(users().build());
    assertTrue(page.truncated());
    assertTrue(page.identities().size() < 30);
    assertEquals(60, names(users(), 100).size());
  }

  /** Counts what is read. */
  private static final class CountingTable implements Table {
    private final Table table;
    private int rowsRead;
    private long bytesRead;

    CountingTable(Table table) {
      this.table = table;
    }

    private byte[] counted(byte[] value) {
      rowsRead++;
      bytesRead += value.length;
      return value;
    }

    @Override
    public byte @Nullable [] get(byte[] key) {
      byte[] value = table.get(key);
      return value == null ? null : counted(value);
    }

    @Override
    public Cursor cursor(byte[] from, byte[] to) {
      Cursor cursor = table.cursor(from, to);
      return new Cursor() {
        @Override
        public boolean isValid() {
          return cursor.isValid();
        }

        @Override
        public byte[] key() {
          return cursor.key();
        }

        @Override
        public byte[] value() {
          return counted(cursor.value());
        }

        @Override
        public void next() {
          cursor.next();
        }

        @Override
        public void seek(byte[] key) {
          cursor.seek(key);
        }

        @Override
        public void close() {
          cursor.close();
        }
      };
    }
  }
}
