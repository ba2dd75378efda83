-- What a report needs beyond Quarto's Markdown, whoever typesets it. It runs before references are
-- resolved. Sections get numbers, which are letters in the appendix, and references to them resolve;
-- in a table marked .grouped a rule stands wherever the first column has a new value; in HTML, a
-- picture becomes a part of the page, so that its points have tips and its words can be found, and a
-- chapter marked .folded can be opened.

local is_html = FORMAT:match("html") ~= nil
local NBSP = "\u{a0}"

local sections = {} -- id -> "Section A.1"
local depth = { 0, 0, 0, 0, 0, 0 }
local in_appendix = false
local n_pictures = 0
local typesetter

local function number_section(header)
  if header.classes:includes("unnumbered") then
    return nil
  end
  if header.identifier == "sec-appendix" then
    in_appendix = true
    depth[1] = 0
  end
  depth[header.level] = depth[header.level] + 1
  for level = header.level + 1, #depth do
    depth[level] = 0
  end
  local number = table.concat(depth, ".", 1, header.level)
  if in_appendix then
    number = string.char(string.byte("A") + depth[1] - 1) .. (number:match("%..*$") or "")
  end
  sections[header.identifier] = "Section" .. NBSP .. number
  if is_html then
    header.content:insert(1, pandoc.Space())
    header.content:insert(1, pandoc.Span({ pandoc.Str(number) }, { class = "header-section-number" }))
    local named = { class = "permalink", ["aria-label"] = "Link to section " .. number }
    header.content:insert(pandoc.Link({}, "#" .. header.identifier, "", named))
    return header
  elseif header.identifier == "sec-appendix" then -- on paper Typst counts, too
    local letters = '#counter(heading).update(0)\n#set heading(numbering: "A.1")'
    return { pandoc.RawBlock("typst", letters), header }
  end
end

local function refer_to_section(cite)
  local id = cite.citations[1].id
  if sections[id] then
    return pandoc.Link({ pandoc.Str(sections[id]) }, "#" .. id, "", { class = "ref" })
  end
end

local function mark_groups(tbl)
  for _, body in ipairs(tbl.bodies) do
    local previous = nil
    for _, row in ipairs(body.body) do
      local first = pandoc.utils.stringify(row.cells[1].contents)
      local starts = previous and first ~= "" and first ~= previous
      previous = first ~= "" and first or previous
      if starts then
        row.attr.classes:insert("group-start")
        if not is_html then
          for _, cell in ipairs(row.cells) do
            cell.attr.attributes["typst:stroke"] = "(top: 0.4pt + luma(205))"
          end
        end
      end
    end
  end
end

-- On paper, the first cell of a group spans its rows, so that no page begins with rows of which only
-- the page before tells what they are of.
local function keep_groups_whole(tbl)
  for _, body in ipairs(tbl.bodies) do
    local first = nil
    for _, row in ipairs(body.body) do
      local is_first = pandoc.utils.stringify(row.cells[1].contents) ~= ""
      if is_first or not first then
        first = row.cells[1]
      else
        first.row_span = first.row_span + 1
        first.attr.attributes["typst:breakable"] = "false"
        row.cells:remove(1)
      end
    end
  end
end

-- Quarto leaves the attributes of a caption in its text until later.
local function is_grouped(tbl)
  local caption = pandoc.utils.stringify(tbl.caption.long)
  return tbl.classes:includes("grouped") or caption:match("{#tbl%-[^}]*%.grouped") ~= nil
end

local function prepare_table(tbl)
  if is_grouped(tbl) then
    mark_groups(tbl)
    if not is_html then
      keep_groups_whole(tbl)
    end
  end
  if is_html then -- browsers size columns well; the widths of a pipe table's dashes are for paper
    for index, spec in ipairs(tbl.colspecs) do
      tbl.colspecs[index] = { spec[1], nil }
    end
  end
  return tbl
end

local function prepare_picture(image)
  if is_html and image.src:match("%.svg$") then
    image.classes:insert("inline-svg") -- Pandoc puts the file into the page,
    n_pictures = n_pictures + 1
    image.identifier = "p" .. n_pictures -- and this before each name in it
    return image
  end
end

local function reach_code(block)
  if is_html then
    block.attributes.tabindex = "0" -- it scrolls
    return block
  end
end

-- Returns the blocks with what follows each heading marked .folded in a box that opens. The inner Div
-- keeps its sections from ending with it.
local function fold(blocks)
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
      found:insert(pandoc.Div({
        pandoc.RawBlock("html", '<details class="folded"><summary>Open this section</summary>'),
        pandoc.Div(fold(inside)),
        pandoc.RawBlock("html", "</details>"),
      }))
    end
  end
  return found
end

function Pandoc(doc)
  typesetter = doc.meta.typesetter
  doc = doc:walk({ traverse = "topdown", Header = number_section })
  doc = doc:walk({
    Cite = refer_to_section,
    Table = prepare_table,
    Image = prepare_picture,
    CodeBlock = reach_code,
    Span = function(span)
      return span.classes:includes("typesetter") and pandoc.Inlines(typesetter) or nil
    end,
  })
  if is_html then
    doc.blocks = fold(doc.blocks)
  end
  return doc
end
