-- What HTML has on top of the text, whoever typesets it. A picture becomes a part of the page, so
-- that its points have tips and its words can be found; a chapter marked .folded can be opened.

if not FORMAT:match("html") then
  return {}
end

local fold
local n_pictures = 0

-- Returns what stands in a folded chapter. The inner Div keeps its sections from ending with it.
local function folded(blocks)
  return pandoc.Div({
    pandoc.RawBlock("html", '<details class="folded"><summary>Open this section</summary>'),
    pandoc.Div(fold(blocks)),
    pandoc.RawBlock("html", "</details>"),
  })
end

function fold(blocks)
  local found = pandoc.Blocks({})
  local place = 1
  while place <= #blocks do
    local block = blocks[place]
    found:insert(block)
    place = place + 1
    if block.t == "Header" and block.classes:includes("folded") then
      local inside = pandoc.Blocks({})
      while blocks[place] and not (blocks[place].t == "Header" and blocks[place].level <= block.level) do
        inside:insert(blocks[place])
        place = place + 1
      end
      found:insert(folded(inside))
    end
  end
  return found
end

return {
  {
    Image = function(image)
      if image.src:match("%.svg$") then
        image.classes:insert("inline-svg") -- Pandoc puts the file into the page,
        n_pictures = n_pictures + 1
        image.identifier = "p" .. n_pictures -- and this before each name in it
        return image
      end
    end,
    Pandoc = function(doc)
      doc.blocks = fold(doc.blocks)
      return doc
    end,
  },
}
