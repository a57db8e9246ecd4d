package dev.ashlar.gateway.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.s3.TagSet;
import dev.ashlar.gateway.xml.XmlReader;
import java.util.List;

/** Documents of XML: whatever is wrong is an error of S3. */
public final class XmlTarget {
  private XmlTarget() {}

  public static void fuzzerTestOneInput(byte[] data) {
    try {
      XmlReader.Element root = XmlReader.read(data, "Tagging");
      if (!root.name().equals("Tagging")) {
        throw new AssertionError("another root: " + root.name());
      }
    } catch (S3Exception e) {
      if (e.error() != S3Error.MALFORMED_XML) {
        throw new AssertionError(e);
      }
    }
    try {
      TagSet tags = TagSet.of(data, TagSet.OBJECT_TAGS_MAX);
      if (!TagSet.of(tags.document(), TagSet.OBJECT_TAGS_MAX).equals(tags)) {
        throw new AssertionError("tags that do not come back: " + tags);
      }
    } catch (S3Exception e) {
      if (e.error().status() >= 500) {
        throw new AssertionError(e);
      }
    }
  }

  static List<byte[]> seeds() {
    return List.of(
        ("<Tagging xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><TagSet><Tag><Key>k</Key>"
                + "<Value>v &amp; &#x41;</Value></Tag></TagSet></Tagging>")
            .getBytes(UTF_8),
        "<!DOCTYPE a [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><Tagging>&e;</Tagging>"
            .getBytes(UTF_8),
        "<?xml version=\"1.1\" encoding=\"UTF-16\"?><Tagging><![CDATA[x]]><!-- y --></Tagging>"
            .getBytes(UTF_8),
        ("<a>".repeat(40) + "</a>".repeat(40)).getBytes(UTF_8));
  }
}
