package dev.ashlar.gateway.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.error.S3Exception;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LifecycleReaderTest {
  private static final String EXPIRES = "<Expiration><Days>1</Days></Expiration>";

  private int ids;

  private List<LifecycleRule> read(String rules) throws S3Exception {
    return LifecycleReader.read(document(rules), () -> "made-" + ids++);
  }

  private static byte[] document(String rules) {
    return ("<LifecycleConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
            + rules
            + "</LifecycleConfiguration>")
        .getBytes(StandardCharsets.UTF_8);
  }

  private static String rule(String fields) {
    return "<Rule><Status>Enabled</Status>" + fields + "</Rule>";
  }

  private static String filtered(String filter) {
    return rule("<Filter>" + filter + "</Filter>" + EXPIRES);
  }

  private static String acting(String actions) {
    return rule("<Filter/>" + actions);
  }

  /** What is answered for a document that is refused; otherwise an empty text. */
  private String refusal(String rules) {
    try {
      read(rules);
      return "";
    } catch (S3Exception e) {
      return e.error().code();
    }
  }

  /** As S3 answers the rules, without the parts that all have. */
  private String answered(String rules) throws S3Exception {
    String xml =
        new String(
            LifecycleDocuments.xml(new LifecycleRules(read(rules), false)), StandardCharsets.UTF_8);
    return xml.substring(xml.indexOf("<Rule>"), xml.lastIndexOf("</LifecycleConfiguration>"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "<Filter></Filter>",
        "<Filter><Prefix></Prefix></Filter>",
        "<Filter><Prefix>a&amp;b</Prefix></Filter>",
        "<Prefix>old/</Prefix>",
        "<Prefix></Prefix>",
        "<Filter><Tag><Key>k</Key><Value></Value></Tag></Filter>",
        "<Filter><ObjectSizeGreaterThan>0</ObjectSizeGreaterThan></Filter>",
        "<Filter><ObjectSizeLessThan>5</ObjectSizeLessThan></Filter>",
        "<Filter><And><Prefix>p</Prefix><Tag><Key>k</Key><Value>v</Value></Tag>"
            + "<Tag><Key>l</Key><Value>v</Value></Tag>"
            + "<ObjectSizeGreaterThan>1</ObjectSizeGreaterThan>"
            + "<ObjectSizeLessThan>3</ObjectSizeLessThan></And></Filter>"
      })
  void filtersAreAnsweredAsTheyWereGiven(String filter) throws S3Exception {
    String rule = "<Rule><ID>i</ID>" + filter + "<Status>Enabled</Status>" + EXPIRES + "</Rule>";
    assertEquals(rule, answered(rule));
  }

  /** As old clients and ceph/s3-tests send them. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "<Prefix>p</Prefix><Tag><Key>k</Key><Value>v</Value></Tag>",
        "<Tag><Key>k</Key><Value>v</Value></Tag><Tag><Key>l</Key><Value>v</Value></Tag>",
        "<Prefix>p</Prefix><ObjectSizeGreaterThan>1</ObjectSizeGreaterThan>",
        "<ObjectSizeGreaterThan>1</ObjectSizeGreaterThan><ObjectSizeLessThan>3</ObjectSizeLessThan>"
      })
  void severalConditionsWithoutAndAreAnsweredWithIt(String conditions) throws S3Exception {
    String rule =
        "<Rule><ID>i</ID><Filter>%s</Filter><Status>Enabled</Status>" + EXPIRES + "</Rule>";
    assertEquals(
        rule.formatted("<And>" + conditions + "</And>"), answered(rule.formatted(conditions)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "<Expiration><Days>2147483647</Days></Expiration>",
        "<Expiration><Date>2030-01-02T00:00:00.000Z</Date></Expiration>",
        "<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>",
        "<Expiration><ExpiredObjectDeleteMarker>false</ExpiredObjectDeleteMarker></Expiration>",
        "<Transition><Days>0</Days><StorageClass>A</StorageClass></Transition>"
            + "<Transition><Days>3</Days><StorageClass>B</StorageClass></Transition>",
        "<Transition><Date>2030-01-02T00:00:00.000Z</Date><StorageClass>A</StorageClass>"
            + "</Transition>",
        "<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays>"
            + "<NewerNoncurrentVersions>100</NewerNoncurrentVersions></NoncurrentVersionExpiration>",
        "<NoncurrentVersionTransition><NoncurrentDays>0</NoncurrentDays>"
            + "<NewerNoncurrentVersions>1</NewerNoncurrentVersions><StorageClass>A</StorageClass>"
            + "</NoncurrentVersionTransition>",
        "<AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation>"
            + "</AbortIncompleteMultipartUpload>"
      })
  void actionsAreAnsweredAsTheyWereGiven(String actions) throws S3Exception {
    String rule =
        "<Rule><ID>i</ID><Filter></Filter><Status>Disabled</Status>" + actions + "</Rule>";
    assertEquals(rule, answered(rule));
  }

  @ParameterizedTest
  @CsvSource({
    "2030-01-02, 2030-01-02T00:00:00.000Z",
    "2030-01-02T00:00:00Z, 2030-01-02T00:00:00.000Z",
    "2030-01-02T05:30:00+05:30, 2030-01-02T00:00:00.000Z",
    "0001-01-01T00:00:00Z, 0001-01-01T00:00:00.000Z"
  })
  void datesOfAllForms(String given, String answered) throws S3Exception {
    String text = answered(acting("<Expiration><Date>" + given + "</Date></Expiration>"));
    assertEquals(
        "<Date>" + answered + "</Date>",
        text.substring(text.indexOf("<Date>"), text.indexOf("</Expiration>")));
  }

  @Test
  void idsAreMadeWhereTheyAreMissing() throws S3Exception {
    List<LifecycleRule> rules =
        read(
            filtered("")
                + rule("<ID></ID><Filter/>" + EXPIRES)
                + rule("<ID>" + "i".repeat(255) + "</ID><Filter/>" + EXPIRES));
    assertEquals(
        List.of("made-0", "made-1", "i".repeat(255)),
        rules.stream().map(LifecycleRule::id).toList());
    assertEquals(
        "InvalidArgument", refusal(rule("<ID>" + "i".repeat(256) + "</ID><Filter/>" + EXPIRES)));
    String same = rule("<ID>same</ID><Filter/>" + EXPIRES);
    assertEquals("InvalidArgument", refusal(same + same));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "<Filter><Other/></Filter>                                            | MalformedXML",
        "<Filter><Prefix>a</Prefix><Prefix>b</Prefix></Filter>                | MalformedXML",
        "<Filter><Prefix>a</Prefix><And><Prefix>b</Prefix><ObjectSizeLessThan>9</ObjectSizeLessThan>"
            + "</And></Filter> | MalformedXML",
        "<Filter><And><Prefix>a</Prefix></And></Filter>                       | MalformedXML",
        "<Filter><And/></Filter>                                              | MalformedXML",
        "<Filter/><Filter/>                                                   | MalformedXML",
        "<Filter/><Prefix/>                                                   | MalformedXML",
        "<!-- neither -->                                                     | MalformedXML",
        "<Filter><Prefix><a/></Prefix></Filter>                               | MalformedXML",
        "<Filter><Tag><Key>k</Key></Tag></Filter>                             | MalformedXML",
        "<Filter><Tag><Key></Key><Value>v</Value></Tag></Filter>              | InvalidTag",
        "<Filter><ObjectSizeGreaterThan>x</ObjectSizeGreaterThan></Filter>    | MalformedXML",
        "<Filter><ObjectSizeGreaterThan>-1</ObjectSizeGreaterThan></Filter>   | InvalidArgument",
        "<Filter><ObjectSizeLessThan>0</ObjectSizeLessThan></Filter>          | InvalidArgument",
        "<Filter><ObjectSizeLessThan>9999999999999999999</ObjectSizeLessThan></Filter>"
            + "| MalformedXML",
        "<Filter><And><ObjectSizeGreaterThan>5</ObjectSizeGreaterThan>"
            + "<ObjectSizeLessThan>6</ObjectSizeLessThan></And></Filter> | InvalidRequest",
        "<Filter><And><Tag><Key>k</Key><Value>v</Value></Tag>"
            + "<Tag><Key>k</Key><Value>w</Value></Tag></And></Filter> | InvalidRequest"
      })
  void wrongFilters(String filter, String code) {
    assertEquals(code, refusal(rule(filter + EXPIRES)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "<!-- none -->                                                 | InvalidRequest",
        "<Other/>                                                      | MalformedXML",
        "<Expiration/>                                                 | MalformedXML",
        "<Expiration><Days>0</Days></Expiration>                       | InvalidArgument",
        "<Expiration><Days>-1</Days></Expiration>                      | InvalidArgument",
        "<Expiration><Days>1.5</Days></Expiration>                     | MalformedXML",
        "<Expiration><Days></Days></Expiration>                        | MalformedXML",
        "<Expiration><Days>2147483648</Days></Expiration>              | MalformedXML",
        "<Expiration><Days>1</Days><Date>2030-01-01</Date></Expiration> | MalformedXML",
        "<Expiration><Days>1</Days><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker>"
            + "</Expiration> | MalformedXML",
        "<Expiration><ExpiredObjectDeleteMarker>yes</ExpiredObjectDeleteMarker></Expiration>"
            + "| MalformedXML",
        "<Expiration><ExpiredObjectAllVersions>true</ExpiredObjectAllVersions></Expiration>"
            + "| MalformedXML",
        "<Expiration><Date>20300101</Date></Expiration>                | MalformedXML",
        "<Expiration><Date>2030-02-30</Date></Expiration>              | MalformedXML",
        "<Expiration><Date>+999999999-01-01T00:00:00Z</Date></Expiration> | MalformedXML",
        "<Expiration><Date>2030-01-01T00:00:01Z</Date></Expiration>    | InvalidArgument",
        "<Expiration><Date>2030-01-01T00:00:00+01:00</Date></Expiration> | InvalidArgument",
        "<Transition><Days>-1</Days><StorageClass>A</StorageClass></Transition> | InvalidArgument",
        "<Transition><Days>1</Days></Transition>                       | MalformedXML",
        "<Transition><Days>1</Days><StorageClass/></Transition>        | MalformedXML",
        "<Transition><StorageClass>A</StorageClass></Transition>       | MalformedXML",
        "<Transition><Days>1</Days><StorageClass>A</StorageClass></Transition>"
            + "<Transition><Days>2</Days><StorageClass>A</StorageClass></Transition>"
            + "| InvalidRequest",
        "<Transition><Days>1</Days><StorageClass>A</StorageClass></Transition>"
            + "<Expiration><Days>1</Days></Expiration> | InvalidArgument",
        "<Transition><Date>2030-01-02</Date><StorageClass>A</StorageClass></Transition>"
            + "<Expiration><Date>2030-01-01</Date></Expiration> | InvalidArgument",
        "<Transition><Date>2030-01-02</Date><StorageClass>A</StorageClass></Transition>"
            + "<Expiration><Days>10</Days></Expiration> | InvalidRequest",
        "<NoncurrentVersionExpiration/>                                | MalformedXML",
        "<NoncurrentVersionExpiration><NewerNoncurrentVersions>1</NewerNoncurrentVersions>"
            + "</NoncurrentVersionExpiration> | MalformedXML",
        "<NoncurrentVersionExpiration><NoncurrentDays>0</NoncurrentDays>"
            + "</NoncurrentVersionExpiration> | InvalidArgument",
        "<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays>"
            + "<NewerNoncurrentVersions>0</NewerNoncurrentVersions></NoncurrentVersionExpiration>"
            + "| InvalidArgument",
        "<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays>"
            + "<NewerNoncurrentVersions>101</NewerNoncurrentVersions>"
            + "</NoncurrentVersionExpiration> | InvalidArgument",
        "<NoncurrentVersionTransition><NoncurrentDays>1</NoncurrentDays>"
            + "</NoncurrentVersionTransition> | MalformedXML",
        "<NoncurrentVersionTransition><NoncurrentDays>2</NoncurrentDays><StorageClass>A"
            + "</StorageClass></NoncurrentVersionTransition><NoncurrentVersionExpiration>"
            + "<NoncurrentDays>2</NoncurrentDays></NoncurrentVersionExpiration>"
            + "| InvalidArgument",
        "<AbortIncompleteMultipartUpload/>                             | MalformedXML",
        "<AbortIncompleteMultipartUpload><DaysAfterInitiation>0</DaysAfterInitiation>"
            + "</AbortIncompleteMultipartUpload> | InvalidArgument"
      })
  void wrongActions(String actions, String code) {
    assertEquals(code, refusal(acting(actions)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>",
        "<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation>"
            + "</AbortIncompleteMultipartUpload>"
      })
  void whatHasNeitherTagsNorSizesTakesNoSuchFilters(String action) {
    String tag = "<Filter><Tag><Key>k</Key><Value>v</Value></Tag></Filter>";
    String size = "<Filter><ObjectSizeLessThan>9</ObjectSizeLessThan></Filter>";
    assertEquals("InvalidRequest", refusal(rule(tag + action)));
    assertEquals("InvalidRequest", refusal(rule(size + action)));
    assertEquals("", refusal(rule("<Filter><Prefix>p</Prefix></Filter>" + action)));
  }

  @Test
  void wrongDocuments() {
    assertEquals("MalformedXML", refusal(""));
    assertEquals("MalformedXML", refusal("<Other/>"));
    assertEquals("MalformedXML", refusal("<Rule>"));
    assertEquals("MalformedXML", refusal("<Rule><Filter/>" + EXPIRES + "</Rule>"));
    for (String status : List.of("enabled", "disabled", "On", "")) {
      assertEquals(
          "MalformedXML",
          refusal("<Rule><Status>" + status + "</Status><Filter/>" + EXPIRES + "</Rule>"));
    }
    assertEquals("", refusal(filtered("").repeat(1000)));
    assertEquals("MalformedXML", refusal(filtered("").repeat(1001)));
    String long1024 = "<Prefix>" + "ä".repeat(512) + "</Prefix>";
    assertEquals("", refusal(rule(long1024 + EXPIRES)));
    assertEquals("InvalidRequest", refusal(rule(long1024.replace("</", "x</") + EXPIRES)));
  }

  @Test
  void aThousandRulesFitIntoADocument() throws S3Exception {
    StringBuilder rules = new StringBuilder();
    Random random = new Random(1);
    for (int i = 0; i < 1000; i++) {
      rules.append(
          rule(
              "<ID>%016x</ID><Filter><Prefix>tenants/%d/logs/</Prefix></Filter>"
                      .formatted(random.nextLong(), i)
                  + "<Expiration><Days>"
                  + (i % 400 + 1)
                  + "</Days></Expiration>"));
    }
    LifecycleRules given = new LifecycleRules(read(rules.toString()), true);
    ByteString document = LifecycleDocuments.of(given);
    LifecycleDocuments.Stored stored = LifecycleDocuments.read(document);
    assertNotNull(stored);
    assertEquals(given, stored.rules());
    assertEquals(LifecycleDocuments.xml(given).length, stored.bytes());
  }

  @Test
  void whatDoesNotFitIsRefused() throws S3Exception {
    StringBuilder rules = new StringBuilder();
    Random random = new Random(2);
    for (int i = 0; i < 1000; i++) {
      byte[] prefix = new byte[300];
      random.nextBytes(prefix);
      rules.append(
          rule("<Prefix>" + Base64.getEncoder().encodeToString(prefix) + "</Prefix>" + EXPIRES));
    }
    LifecycleRules given = new LifecycleRules(read(rules.toString()), false);
    S3Exception refused = assertThrows(S3Exception.class, () -> LifecycleDocuments.of(given));
    assertEquals("MaxMessageLengthExceeded", refused.error().code());
  }

  @Test
  void nothingIsDoneByADocumentThatCannotBeRead() {
    assertNull(LifecycleDocuments.read(ByteString.copyFromUtf8("no document")));
    assertNull(LifecycleDocuments.read(ByteString.EMPTY));
  }

  /** A format: what was stored once has to be read for ever. */
  @Test
  void storedRulesOfTheFirstBuildAreRead() throws S3Exception {
    LifecycleDocuments.Stored stored =
        LifecycleDocuments.read(ByteString.copyFrom(Base64.getDecoder().decode(GOLDEN)));
    assertNotNull(stored);
    assertEquals(
        new LifecycleRules(
            read(
                rule("<ID>a</ID><Prefix>p/</Prefix>" + EXPIRES)
                    + rule(
                        "<ID>b</ID><Filter><Tag><Key>k</Key><Value>v</Value></Tag></Filter>"
                            + "<Transition><Days>3</Days><StorageClass>COLD</StorageClass>"
                            + "</Transition>")),
            true),
        stored.rules());
  }

  private static final String GOLDEN =
      "CvoBeJx1kE1Pg0AQhu/+CsIdhkpijBmmB2gTYxONRe9TuuDGZZewSwV/vbRQw0Ev8/3meTO47mvlnURr"
          + "pdGJvwoj3xO6MEepq8R/y7fBvb+mG9zJUhRDoURqdCmrrmU3CrxRrG3ifzjXPADYOOSav43mLxsWpoaj"
          + "KeA2iu6CKA6iFfiEr50ShI8ZMcIY8aUVpeypAYS5xL1j11naaD4ocUSYe9z0jZywhBkPllYIl4ywXMGE"
          + "+AUdJtBWKidawpwrwicx0CfCOeE7q07QCWEqEC4XcL3/z03esrZy4Sa+utk703IlUsXWUvq8y86ixWgk"
          + "LLSzXfj7wfQDYruONBAB";
}
