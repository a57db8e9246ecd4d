package dev.ashlar.gateway.notification;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.message.EventRow;
import dev.ashlar.protocol.message.EventRow.Kind;
import dev.ashlar.protocol.message.RequestOrigin;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NotificationsTest {
  private static final String ALL = "<Event>s3:ObjectCreated:*</Event>";

  private static Notifications read(String xml) throws S3Exception {
    return Notifications.of(
        ("<NotificationConfiguration>" + xml + "</NotificationConfiguration>")
            .getBytes(StandardCharsets.UTF_8),
        () -> "new");
  }

  private static String queue(String content) {
    return "<QueueConfiguration>" + content + "</QueueConfiguration>";
  }

  private static String rule(String id, String events, String prefix, String suffix) {
    return queue(
        "<Id>"
            + id
            + "</Id><Queue>arn</Queue>"
            + events
            + "<Filter><S3Key>"
            + filter("prefix", prefix)
            + filter("suffix", suffix)
            + "</S3Key></Filter>");
  }

  private static String filter(String name, String value) {
    return "<FilterRule><Name>" + name + "</Name><Value>" + value + "</Value></FilterRule>";
  }

  private static String refused(String xml) {
    return assertThrows(S3Exception.class, () -> read(xml)).error().code();
  }

  @Test
  void theDocumentIsAnsweredAsItCame() throws Exception {
    String xml =
        "<TopicConfiguration><Id>1</Id><Topic>arn:a</Topic><Event>s3:ObjectCreated:Put</Event>"
            + "<Event>s3:ObjectAcl:Put</Event></TopicConfiguration>"
            + "<CloudFunctionConfiguration><Id>2</Id><CloudFunction>arn:b</CloudFunction>"
            + "<Event>s3:ObjectRemoved:*</Event><Filter><S3Key>"
            + filter("prefix", "a/")
            + filter("suffix", ".j&amp;g")
            + "</S3Key></Filter></CloudFunctionConfiguration>";
    Notifications read = read(xml);
    String document = new String(read.document(), StandardCharsets.UTF_8);
    assertTrue(
        document.endsWith("2006-03-01/\">" + xml + "</NotificationConfiguration>"), document);
    assertEquals(read, Notifications.stored(read.document()));
    assertEquals(Set.of("arn:a", "arn:b"), read.targets());
    assertEquals(Notifications.NONE, read(""));
    assertEquals(0, Notifications.NONE.kinds());
  }

  @Test
  void aRuleWithoutIdGetsOne() throws Exception {
    assertEquals("new", read(queue("<Queue>arn</Queue>" + ALL)).rules().getFirst().id());
    assertEquals("new", read(queue("<Id/><Queue>arn</Queue>" + ALL)).rules().getFirst().id());
  }

  @Test
  void namesOfFiltersMayBeginWithCapitals() throws Exception {
    Notifications read =
        read(rule("1", ALL, "p", "s").replace("prefix", "Prefix").replace("suffix", "SUFFIX"));
    assertEquals("p", read.rules().getFirst().prefix());
    assertEquals("s", read.rules().getFirst().suffix());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "<QueueConfiguration/>",
        "<QueueConfiguration><Queue>arn</Queue></QueueConfiguration>",
        "<QueueConfiguration><Event>s3:ObjectCreated:*</Event></QueueConfiguration>",
        "<QueueConfiguration><Topic>arn</Topic><Event>s3:ObjectCreated:*</Event>"
            + "</QueueConfiguration>",
        "<QueueConfiguration><Queue>a</Queue><Queue>b</Queue><Event>s3:ObjectCreated:*</Event>"
            + "</QueueConfiguration>",
        "<QueueConfiguration><Queue>a</Queue><Event>s3:ObjectCreated:*</Event><Filter><Key/></Filter>"
            + "</QueueConfiguration>",
        "<QueueConfiguration><Queue>a</Queue><Event>s3:ObjectCreated:*</Event><Filter><S3Key>"
            + "<FilterRule><Name>prefix</Name></FilterRule></S3Key></Filter></QueueConfiguration>",
        "<Other/>"
      })
  void malformed(String xml) {
    assertEquals("MalformedXML", refused(xml));
  }

  @ParameterizedTest
  @CsvSource({
    "s3:ObjectRestore:*, NotImplemented",
    "s3:ObjectRestore:Completed, NotImplemented",
    "s3:ReducedRedundancyLostObject, NotImplemented",
    "s3:Replication:OperationFailedReplication, NotImplemented",
    "s3:LifecycleTransition, NotImplemented",
    "s3:IntelligentTiering, NotImplemented",
    "s3:ObjectAccessed:Get, InvalidArgument",
    "s3:ObjectCreated, InvalidArgument",
    "s3:ObjectCreated:, InvalidArgument",
    "s3:ObjectCreated:P*, InvalidArgument",
    "s3:ObjectAcl:*, InvalidArgument",
    "ObjectCreated:Put, InvalidArgument",
    "s3:*, InvalidArgument",
    "*, InvalidArgument"
  })
  void eventsThatNobodyIsToldOf(String event, String code) {
    assertEquals(code, refused(queue("<Queue>arn</Queue><Event>" + event + "</Event>")));
  }

  @Test
  void whatIsNotServedIsRefused() {
    assertEquals("NotImplemented", refused("<EventBridgeConfiguration/>"));
    assertEquals(
        "NotImplemented",
        refused(
            "<CloudFunctionConfiguration><CloudFunction>a</CloudFunction>"
                + ALL
                + "<InvocationRole>r</InvocationRole></CloudFunctionConfiguration>"));
  }

  @Test
  void wrongValuesAreInvalid() {
    assertEquals("InvalidArgument", refused(rule("x".repeat(256), ALL, "", "")));
    assertEquals("InvalidArgument", refused(rule("1", ALL, "é".repeat(513), "")));
    assertEquals("InvalidArgument", refused(rule("1", ALL, "", "").replace(">prefix<", ">infix<")));
    assertEquals(
        "InvalidArgument", refused(rule("1", ALL, "a", "b").replace(">prefix<", ">suffix<")));
    assertEquals("InvalidArgument", refused(rule("1", ALL, "a", "") + rule("1", ALL, "b", "")));
  }

  @Test
  void thereAreAtMostAHundred() throws Exception {
    StringBuilder many = new StringBuilder();
    for (int i = 0; i < 100; i++) {
      many.append(rule("r" + i, ALL, "p" + i + "/", ""));
    }
    assertEquals(100, read(many.toString()).rules().size());
    assertEquals("InvalidArgument", refused(many + rule("one more", ALL, "q", "")));
    many.setLength(0);
    for (int i = 0; i < 100; i++) {
      many.append(rule("r" + i, ALL, "p" + i + "/" + "x".repeat(700), ""));
    }
    assertEquals("MaxMessageLengthExceeded", refused(many.toString()));
  }

  @ParameterizedTest
  @CsvSource({
    "a/, .jpg, a/, .png, false",
    "a/, '', b/, '', false",
    "a/, '', a/b/, '', true",
    "'', '', x, y, true",
    "'', .jpg, '', g, true",
    "'', .jpg, b, .jp, false"
  })
  void noTwoMayOverlap(String prefix1, String suffix1, String prefix2, String suffix2, boolean is)
      throws Exception {
    String one = rule("1", ALL, prefix1, suffix1);
    String sameEvent = rule("2", "<Event>s3:ObjectCreated:Copy</Event>", prefix2, suffix2);
    String otherEvent = rule("2", "<Event>s3:ObjectRemoved:*</Event>", prefix2, suffix2);
    assertEquals(2, read(one + otherEvent).rules().size());
    if (is) {
      assertEquals("InvalidArgument", refused(one + sameEvent));
      assertEquals("InvalidArgument", refused(sameEvent + one));
    } else {
      assertEquals(2, read(one + sameEvent).rules().size());
    }
  }

  private static EventRow event(Kind kind, String key, RequestOrigin origin) {
    return EventRow.newBuilder().setKind(kind).setKey(key).setOrigin(origin).build();
  }

  private static List<String> names(RequestOrigin origin) {
    return List.of(Kind.values()).stream()
        .filter(kind -> kind != Kind.UNRECOGNIZED)
        .map(kind -> EventName.of(event(kind, "k", origin)).text())
        .toList();
  }

  @Test
  void everyKindHasAName() {
    assertEquals(
        List.of(
            "ObjectCreated:Put",
            "ObjectCreated:Copy",
            "ObjectCreated:CompleteMultipartUpload",
            "ObjectCreated:Copy",
            "ObjectCreated:Put",
            "ObjectRemoved:Delete",
            "ObjectRemoved:DeleteMarkerCreated",
            "ObjectTagging:Put",
            "ObjectTagging:Delete",
            "ObjectAcl:Put"),
        names(RequestOrigin.getDefaultInstance()));
    assertEquals(
        Set.of("LifecycleExpiration:Delete", "LifecycleExpiration:DeleteMarkerCreated"),
        Set.copyOf(
            names(RequestOrigin.newBuilder().setPrincipal("s3.amazonaws.com").build())
                .subList(5, 7)));
    assertEquals(
        "ObjectCreated:Post", names(RequestOrigin.newBuilder().setForm(true).build()).getFirst());
  }

  /** Metadata writes what may match, and hardly more. */
  @ParameterizedTest
  @CsvSource({
    "s3:ObjectCreated:*, 0 1 2 3 4",
    "s3:ObjectCreated:Put, 0 4",
    "s3:ObjectCreated:Post, 0",
    "s3:ObjectCreated:Copy, 1 3",
    "s3:ObjectCreated:CompleteMultipartUpload, 2",
    "s3:ObjectRemoved:*, 5 6",
    "s3:ObjectRemoved:Delete, 5",
    "s3:ObjectRemoved:DeleteMarkerCreated, 6",
    "s3:LifecycleExpiration:*, 5 6",
    "s3:ObjectTagging:*, 7 8",
    "s3:ObjectAcl:Put, 9"
  })
  void kindsOfEvents(String event, String kinds) throws Exception {
    int mask = read(queue("<Queue>arn</Queue><Event>" + event + "</Event>")).kinds();
    TreeSet<Integer> bits = new TreeSet<>();
    for (int i = 0; i < 32; i++) {
      if ((mask & 1 << i) != 0) {
        bits.add(i);
      }
    }
    assertEquals("[" + kinds.replace(" ", ", ") + "]", bits.toString());
  }

  @Test
  void rulesMatchTheirKeysAndEvents() throws Exception {
    Notifications read =
        read(
            rule("1", ALL, "a/", ".jpg")
                + rule("2", "<Event>s3:ObjectRemoved:Delete</Event>", "", ""));
    RequestOrigin client = RequestOrigin.getDefaultInstance();
    assertEquals("1", read.rule(event(Kind.CREATED_BY_PUT, "a/b.jpg", client)).orElseThrow().id());
    assertEquals("2", read.rule(event(Kind.DELETED, "x", client)).orElseThrow().id());
    assertTrue(read.rule(event(Kind.CREATED_BY_PUT, "a/b.png", client)).isEmpty());
    assertTrue(read.rule(event(Kind.CREATED_BY_PUT, "b.jpg", client)).isEmpty());
    assertTrue(read.rule(event(Kind.TAGGED, "a/b.jpg", client)).isEmpty());
    RequestOrigin lifecycle = RequestOrigin.newBuilder().setPrincipal(EventName.LIFECYCLE).build();
    assertTrue(read.rule(event(Kind.DELETED, "x", lifecycle)).isEmpty());
  }

  @Provide
  Arbitrary<String> texts() {
    return Arbitraries.strings().withChars("ab").ofMaxLength(3);
  }

  /** If both rules are accepted, no key has both its prefixes and both its suffixes. */
  @Property
  void anEventHasOneTarget(
      @ForAll("texts") String prefix1,
      @ForAll("texts") String suffix1,
      @ForAll("texts") String prefix2,
      @ForAll("texts") String suffix2,
      @ForAll("texts") String key)
      throws S3Exception {
    NotificationRule one = read(rule("1", ALL, prefix1, suffix1)).rules().getFirst();
    NotificationRule two = read(rule("2", ALL, prefix2, suffix2)).rules().getFirst();
    boolean isBoth = one.matches(EventName.PUT, key) && two.matches(EventName.PUT, key);
    assertTrue(!isBoth || one.overlaps(two));
  }
}
