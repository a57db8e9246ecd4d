package dev.ashlar.importer;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class VersionPageTest {
  private static VersionPage read(String document) throws IOException {
    return VersionPage.read(new ByteArrayInputStream(document.getBytes(UTF_8)));
  }

  private static String entry(String kind, String key, String id, String more) {
    return "<%s><Key>%s</Key><VersionId>%s</VersionId><LastModified>2026-11-27T10:00:00.5Z"
            .formatted(kind, key, id)
        + "</LastModified><Owner><ID>x</ID></Owner>%s</%s>".formatted(more, kind);
  }

  @Test
  void keepsTheOrderOfVersionsAndMarkers() throws IOException {
    String content = "<ETag>&quot;ab&quot;</ETag><Size>3</Size>";
    VersionPage page =
        read(
            "<ListVersionsResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
                + "<NextKeyMarker>a%2Bb</NextKeyMarker><NextVersionIdMarker>v1</NextVersionIdMarker>"
                + entry("DeleteMarker", "a+b%2Fc", "3", "")
                + entry("Version", "a+b%2Fc", "2", content)
                + entry("DeleteMarker", "a+b%2Fc", "1", "")
                + entry("Version", "a+b%2Fc", "null", content)
                + "</ListVersionsResult>");
    assertEquals(
        "true 3, false 2, true 1, false null",
        String.join(", ", page.versions().stream().map(v -> v.isMarker() + " " + v.id()).toList()));
    Version version = page.versions().get(1);
    assertEquals("a b/c", version.key());
    assertEquals("ab", version.etag());
    assertEquals(3, version.size());
    assertEquals(500, version.modified().toEpochMilli() % 1000);
    assertEquals("a+b", page.nextKey());
    assertEquals("v1", page.nextVersionId());
  }

  @Test
  void lastPageHasNoNextKey() throws IOException {
    VersionPage page =
        read(
            "<ListVersionsResult><IsTruncated>false</IsTruncated><NextKeyMarker>x</NextKeyMarker>"
                + "</ListVersionsResult>");
    assertTrue(page.versions().isEmpty() && page.nextKey().isEmpty());
  }

  private static void assertRefused(String why, String document) {
    IOException e = assertThrows(IOException.class, () -> read(document));
    assertTrue(String.valueOf(e.getMessage()).contains(why), e::toString);
  }

  @Test
  void documentsOfOtherKindsAreNoEmptyList() {
    String end = "<IsTruncated>false</IsTruncated>";
    assertRefused("ListBucketResult", "<ListBucketResult>" + end + "</ListBucketResult>");
    assertRefused(
        "html", "<html xmlns=\"http://www.w3.org/1999/xhtml\"><body>Sign in</body></html>");
  }

  @Test
  void listMustSayWhetherThereIsMore() {
    assertRefused("whether there is more", "<ListVersionsResult></ListVersionsResult>");
    assertRefused(
        "whether there is more",
        "<ListVersionsResult><IsTruncated>maybe</IsTruncated></ListVersionsResult>");
  }

  @Test
  void listWithMoreMustSayWhere() {
    assertRefused(
        "does not say where",
        "<ListVersionsResult><IsTruncated>true</IsTruncated></ListVersionsResult>");
  }

  @Test
  void whatIsNoListIsRefused() {
    assertThrows(IOException.class, () -> read("<ListVersionsResult><Version>"));
    assertThrows(
        IOException.class,
        () ->
            read(
                "<ListVersionsResult><IsTruncated>false</IsTruncated>"
                    + entry("Version", "k", "1", "<Size>x</Size>")
                    + "</ListVersionsResult>"));
  }
}
